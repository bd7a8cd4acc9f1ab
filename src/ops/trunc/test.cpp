#include "ops/families/unary/unary_cases.h"

namespace thimble::test::trunc_test {

THIMBLE_OP_CASES(trunc) {
  return {.cases = unary_cases({.low = 0.1, .high = 0.4}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::trunc_test
