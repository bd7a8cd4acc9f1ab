#include "ops/elu/attrs.h"
#include "ops/families/unary/unary_cases.h"

namespace thimble::test::elu_test {

THIMBLE_OP_CASES(elu) {
  return {.cases = unary_cases({.low = -3, .high = 3, .gap = 0.01}) +
                   unary_cases({.low = -3, .high = 3, .gap = 0.01},
                               ir::Attrs::of(EluAttrs{.alpha = 0.6}), "_alpha") +
                   unary_cases({.low = -3, .high = 3, .gap = 0.01},
                               ir::Attrs::of(EluAttrs{.alpha = -0.6}), "_negative_alpha"),
          .rejects = unary_rejects()};
}

}  // namespace thimble::test::elu_test
