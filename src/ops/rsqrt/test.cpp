#include "ops/families/unary/unary_cases.h"

namespace thimble::test::rsqrt_test {

THIMBLE_OP_CASES(rsqrt) {
  return {.cases = unary_cases({.low = 0.1, .high = 3}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::rsqrt_test
