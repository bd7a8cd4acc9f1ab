#include "ops/families/unary/unary_cases.h"
#include "ops/softplus/attrs.h"

namespace thimble::test::softplus_test {

THIMBLE_OP_CASES(softplus) {
  return {
      .cases = unary_cases({.low = -5, .high = 5}) +
               unary_cases({.low = -5, .high = 5},
                           ir::Attrs::of(SoftplusAttrs{.beta = 2.0, .threshold = 40.0}), "_beta") +
               unary_cases({.low = 2.1, .high = 3},
                           ir::Attrs::of(SoftplusAttrs{.beta = 2.0, .threshold = 4.0}), "_linear"),
      .rejects = unary_rejects("negative_beta", ir::Attrs::of(SoftplusAttrs{.beta = -1.0}),
                               "beta above 0")};
}

}  // namespace thimble::test::softplus_test
