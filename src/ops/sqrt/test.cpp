#include "ops/families/unary/unary_cases.h"

namespace thimble::test::sqrt_test {

THIMBLE_OP_CASES(sqrt) {
  return {.cases = unary_cases({.low = 0.1, .high = 3}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::sqrt_test
