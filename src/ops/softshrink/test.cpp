#include "ops/families/unary/unary_cases.h"
#include "ops/softshrink/attrs.h"

namespace thimble::test::softshrink_test {

THIMBLE_OP_CASES(softshrink) {
  return {.cases = unary_cases({.low = -5, .high = 5, .gap = 0.51}) +
                   unary_cases({.low = -3, .high = 3, .gap = 0.51},
                               ir::Attrs::of(SoftshrinkAttrs{.lambd = 0.25}), "_narrow"),
          .rejects = unary_rejects("negative_lambd", ir::Attrs::of(SoftshrinkAttrs{.lambd = -0.5}),
                                   "lambd of at least 0")};
}

}  // namespace thimble::test::softshrink_test
