#include "ops/families/unary/unary_cases.h"

namespace thimble::test::log1p_test {

THIMBLE_OP_CASES(log1p) {
  return {.cases = unary_cases({.low = -0.8, .high = 5}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::log1p_test
