#include "ops/families/unary/unary_cases.h"

namespace thimble::test::relu6_test {

THIMBLE_OP_CASES(relu6) {
  return {.cases = unary_cases({.low = -5.9, .high = 5.9, .gap = 0.01}) +
                   unary_cases({.low = 6.1, .high = 8}, {}, "_above"),
          .rejects = unary_rejects()};
}

}  // namespace thimble::test::relu6_test
