#include "ops/families/unary/unary_cases.h"

namespace thimble::test::mish_test {

THIMBLE_OP_CASES(mish) {
  return {.cases = unary_cases({.low = -6, .high = 6}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::mish_test
