#include "ops/families/unary/unary_cases.h"
#include "ops/gelu/attrs.h"

namespace thimble::test::gelu_test {

THIMBLE_OP_CASES(gelu) {
  return {.cases = unary_cases({.low = -5, .high = 5}) +
                   unary_cases({.low = -5, .high = 5},
                               ir::Attrs::of(GeluAttrs{.tanh_approximation = true}), "_tanh"),
          .rejects = unary_rejects()};
}

}  // namespace thimble::test::gelu_test
