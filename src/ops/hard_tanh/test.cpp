#include "ops/families/unary/unary_cases.h"
#include "ops/hard_tanh/attrs.h"

namespace thimble::test::hard_tanh_test {

THIMBLE_OP_CASES(hard_tanh) {
  return {
      .cases = unary_cases({.low = -0.9, .high = 0.9}) +
               unary_cases({.low = -3.5, .high = 5.5},
                           ir::Attrs::of(HardTanhAttrs{.min_val = -4.0, .max_val = 6.0}), "_wide"),
      .rejects = unary_rejects("crossed_limits",
                               ir::Attrs::of(HardTanhAttrs{.min_val = 2.0, .max_val = 1.0}),
                               "min_val <= max_val")};
}

}  // namespace thimble::test::hard_tanh_test
