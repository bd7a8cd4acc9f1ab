#include "ops/families/unary/unary_cases.h"

namespace thimble::test::abs_test {

THIMBLE_OP_CASES(abs) {
  return {.cases = unary_cases({.low = -3, .high = 3, .gap = 0.01}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::abs_test
