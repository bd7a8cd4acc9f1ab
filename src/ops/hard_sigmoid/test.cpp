#include "ops/families/unary/unary_cases.h"

namespace thimble::test::hard_sigmoid_test {

THIMBLE_OP_CASES(hard_sigmoid) {
  return {.cases = unary_cases({.low = -2.9, .high = 2.9}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::hard_sigmoid_test
