#include "ops/families/unary/unary_cases.h"

namespace thimble::test::selu_test {

THIMBLE_OP_CASES(selu) {
  return {.cases = unary_cases({.low = -3, .high = 3, .gap = 0.01}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::selu_test
