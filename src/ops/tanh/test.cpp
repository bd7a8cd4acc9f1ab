#include "ops/families/unary/unary_cases.h"

namespace thimble::test::tanh_test {

THIMBLE_OP_CASES(tanh) {
  return {.cases = unary_cases({.low = -3, .high = 3}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::tanh_test
