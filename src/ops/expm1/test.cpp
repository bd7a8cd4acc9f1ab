#include "ops/families/unary/unary_cases.h"

namespace thimble::test::expm1_test {

THIMBLE_OP_CASES(expm1) {
  return {.cases = unary_cases({.low = -3, .high = 3}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::expm1_test
