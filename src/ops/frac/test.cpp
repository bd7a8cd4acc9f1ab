#include "ops/families/unary/unary_cases.h"

namespace thimble::test::frac_test {

THIMBLE_OP_CASES(frac) {
  return {.cases = unary_cases({.low = 0.1, .high = 0.9}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::frac_test
