#include "ops/families/unary/unary_cases.h"

namespace thimble::test::ceil_test {

THIMBLE_OP_CASES(ceil) {
  return {.cases = unary_cases({.low = 0.1, .high = 0.4}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::ceil_test
