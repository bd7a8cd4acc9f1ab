#include "ops/families/unary/unary_cases.h"

namespace thimble::test::log_sigmoid_test {

THIMBLE_OP_CASES(log_sigmoid) {
  return {.cases = unary_cases({.low = -5, .high = 5}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::log_sigmoid_test
