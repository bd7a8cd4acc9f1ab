#include "ops/families/unary/unary_cases.h"
#include "ops/logit/attrs.h"

namespace thimble::test::logit_test {

THIMBLE_OP_CASES(logit) {
  return {.cases = unary_cases({.low = 0.05, .high = 0.95}) +
                   unary_cases({.low = 0.05, .high = 0.95},
                               ir::Attrs::of(LogitAttrs{.eps = 0.03125}), "_eps"),
          .rejects =
              unary_rejects("half", ir::Attrs::of(LogitAttrs{.eps = 0.75}), "eps of at most 1/2")};
}

}  // namespace thimble::test::logit_test
