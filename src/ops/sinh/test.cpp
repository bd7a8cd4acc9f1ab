#include "ops/families/unary/unary_cases.h"

namespace thimble::test::sinh_test {

THIMBLE_OP_CASES(sinh) {
  return {.cases = unary_cases({.low = -3, .high = 3}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::sinh_test
