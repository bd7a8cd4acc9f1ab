#include "ops/families/unary/unary_cases.h"

namespace thimble::test::exp_test {

THIMBLE_OP_CASES(exp) {
  return {.cases = unary_cases({.low = -5, .high = 5}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::exp_test
