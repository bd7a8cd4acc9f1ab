#include "ops/families/unary/unary_cases.h"

namespace thimble::test::log_test {

THIMBLE_OP_CASES(log) {
  return {.cases = unary_cases({.low = 0.1, .high = 9}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::log_test
