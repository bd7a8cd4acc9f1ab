#include "ops/families/unary/unary_cases.h"

namespace thimble::test::swish_test {

THIMBLE_OP_CASES(swish) {
  return {.cases = unary_cases({.low = -6, .high = 6}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::swish_test
