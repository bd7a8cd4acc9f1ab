#include "ops/families/unary/unary_cases.h"

namespace thimble::test::log10_test {

THIMBLE_OP_CASES(log10) {
  return {.cases = unary_cases({.low = 0.2, .high = 5}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::log10_test
