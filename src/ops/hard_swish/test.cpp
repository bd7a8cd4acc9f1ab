#include "ops/families/unary/unary_cases.h"

namespace thimble::test::hard_swish_test {

THIMBLE_OP_CASES(hard_swish) {
  return {.cases = unary_cases({.low = -2.9, .high = 2.9}) +
                   unary_cases({.low = 3.1, .high = 5}, {}, "_above") +
                   unary_cases({.low = -5, .high = -3.1}, {}, "_below"),
          .rejects = unary_rejects()};
}

}  // namespace thimble::test::hard_swish_test
