#include "ops/families/unary/unary_cases.h"

namespace thimble::test::sigmoid_test {

THIMBLE_OP_CASES(sigmoid) {
  return {.cases = unary_cases({.low = -6, .high = 6}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::sigmoid_test
