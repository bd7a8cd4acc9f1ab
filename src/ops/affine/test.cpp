#include "ops/affine/attrs.h"
#include "ops/common/unary_cases.h"

namespace thimble::test {

THIMBLE_OP_CASES(affine) {
  return {
      .cases = unary_cases({}) +
               unary_cases({}, ir::Attrs::of(AffineAttrs{.scale = 1.5, .shift = -0.25}), "_both"),
      .rejects = unary_rejects()};
}

}  // namespace thimble::test
