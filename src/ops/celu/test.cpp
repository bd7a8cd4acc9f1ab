#include "ops/celu/attrs.h"
#include "ops/families/unary/unary_cases.h"

namespace thimble::test::celu_test {

THIMBLE_OP_CASES(celu) {
  return {.cases = unary_cases({.low = -3, .high = 3, .gap = 0.01}) +
                   unary_cases({.low = -3, .high = 3, .gap = 0.01},
                               ir::Attrs::of(CeluAttrs{.alpha = 2.5}), "_wide") +
                   unary_cases({.low = -3, .high = 3, .gap = 0.01},
                               ir::Attrs::of(CeluAttrs{.alpha = -1.5}), "_negative"),
          .rejects =
              unary_rejects("zero", ir::Attrs::of(CeluAttrs{.alpha = 0.0}), "alpha other than 0")};
}

}  // namespace thimble::test::celu_test
