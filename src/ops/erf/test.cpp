#include "ops/families/unary/unary_cases.h"

namespace thimble::test::erf_test {

THIMBLE_OP_CASES(erf) {
  return {.cases = unary_cases({.low = -3, .high = 3}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::erf_test
