#include "ops/families/unary/unary_cases.h"

namespace thimble::test::exp2_test {

THIMBLE_OP_CASES(exp2) {
  return {.cases = unary_cases({.low = -3, .high = 3}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::exp2_test
