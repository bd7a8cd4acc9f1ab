#include "ops/families/unary/unary_cases.h"
#include "ops/threshold/attrs.h"

namespace thimble::test::threshold_test {

THIMBLE_OP_CASES(threshold) {
  return {.cases = unary_cases({.low = -5, .high = 5, .gap = 0.01}) +
                   unary_cases({.low = 0.5, .high = 3, .gap = 0.01},
                               ir::Attrs::of(ThresholdAttrs{.threshold = -1.0, .value = -7.0}),
                               "_raised"),
          .rejects = unary_rejects()};
}

}  // namespace thimble::test::threshold_test
