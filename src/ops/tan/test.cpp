#include "ops/families/unary/unary_cases.h"

namespace thimble::test::tan_test {

THIMBLE_OP_CASES(tan) {
  return {.cases = unary_cases({.low = -1.4, .high = 1.4}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::tan_test
