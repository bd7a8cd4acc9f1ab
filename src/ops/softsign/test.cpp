#include "ops/families/unary/unary_cases.h"

namespace thimble::test::softsign_test {

THIMBLE_OP_CASES(softsign) {
  return {.cases = unary_cases({.low = -5, .high = 5, .gap = 0.01}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::softsign_test
