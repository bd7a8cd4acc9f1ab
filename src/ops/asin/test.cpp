#include "ops/families/unary/unary_cases.h"

namespace thimble::test::asin_test {

THIMBLE_OP_CASES(asin) {
  return {.cases = unary_cases({.low = -0.9, .high = 0.9}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::asin_test
