#include "ops/families/unary/unary_cases.h"
#include "ops/hardshrink/attrs.h"

namespace thimble::test::hardshrink_test {

THIMBLE_OP_CASES(hardshrink) {
  return {.cases = unary_cases({.low = -5, .high = 5, .gap = 0.51}) +
                   unary_cases({.low = -3, .high = 3, .gap = 0.51},
                               ir::Attrs::of(HardshrinkAttrs{.lambd = 0.25}), "_narrow"),
          .rejects = unary_rejects()};
}

}  // namespace thimble::test::hardshrink_test
