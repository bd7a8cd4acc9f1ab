#include "ops/families/unary/unary_cases.h"

namespace thimble::test::reciprocal_test {

THIMBLE_OP_CASES(reciprocal) {
  return {.cases = unary_cases({.low = -3, .high = 3, .gap = 0.3}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::reciprocal_test
