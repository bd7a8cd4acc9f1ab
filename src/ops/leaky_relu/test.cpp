#include "ops/families/unary/unary_cases.h"
#include "ops/leaky_relu/attrs.h"

namespace thimble::test::leaky_relu_test {

THIMBLE_OP_CASES(leaky_relu) {
  return {.cases = unary_cases({.low = -3, .high = 3, .gap = 0.01}) +
                   unary_cases({.low = -3, .high = 3, .gap = 0.01},
                               ir::Attrs::of(LeakyReluAttrs{.slope = 0.3}), "_steep") +
                   unary_cases({.low = -3, .high = 3, .gap = 0.01},
                               ir::Attrs::of(LeakyReluAttrs{.slope = 0.0}), "_flat") +
                   unary_cases({.low = -3, .high = 3, .gap = 0.01},
                               ir::Attrs::of(LeakyReluAttrs{.slope = -0.3}), "_negative"),
          .rejects = unary_rejects()};
}

}  // namespace thimble::test::leaky_relu_test
