#include "ops/families/unary/unary_cases.h"

namespace thimble::test::acos_test {

THIMBLE_OP_CASES(acos) {
  return {.cases = unary_cases({.low = -0.9, .high = 0.9}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::acos_test
