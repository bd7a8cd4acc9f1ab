#include "ops/families/unary/unary_cases.h"

namespace thimble::test::acosh_test {

THIMBLE_OP_CASES(acosh) {
  return {.cases = unary_cases({.low = 1.1, .high = 6}), .rejects = unary_rejects()};
}

}  // namespace thimble::test::acosh_test
