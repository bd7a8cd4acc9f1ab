#include "ops/clip/attrs.h"
#include "ops/families/unary/unary_cases.h"

namespace thimble::test::clip_test {

THIMBLE_OP_CASES(clip) {
  return {.cases = unary_cases({.low = -3, .high = 0.9, .gap = 0.01}) +
                   unary_cases({.low = -1.4, .high = 1.9},
                               ir::Attrs::of(ClipAttrs{.low = -1.5, .high = 2.0}), "_wide") +
                   unary_cases({.low = 2.1, .high = 3},
                               ir::Attrs::of(ClipAttrs{.low = -1.5, .high = 2.0}), "_outside"),
          .rejects = unary_rejects(
              "empty_interval", ir::Attrs::of(ClipAttrs{.low = 1.0, .high = 0.0}), "low <= high")};
}

}  // namespace thimble::test::clip_test
