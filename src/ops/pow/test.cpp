#include "ops/families/binary/binary_cases.h"
#include "ops/families/unary/unary_cases.h"

namespace thimble::test::pow_test {

THIMBLE_OP_CASES(pow) {
  return {
      .cases =
          unary_cases({.low = 0.1, .high = 3}) +
          unary_cases({.low = 0.1, .high = 3}, ir::Attrs::of(PowAttrs{.exponent = 0.0}), "_zero") +
          unary_cases({.low = 0.1, .high = 3}, ir::Attrs::of(PowAttrs{.exponent = 1.0}), "_one") +
          unary_cases({.low = -3, .high = 3}, ir::Attrs::of(PowAttrs{.exponent = 3.0}), "_cube") +
          unary_cases({.low = 0.1, .high = 3}, ir::Attrs::of(PowAttrs{.exponent = -1.0}),
                      "_inverse") +
          unary_cases({.low = 0.1, .high = 3}, ir::Attrs::of(PowAttrs{.exponent = 0.5}), "_root") +
          unary_cases({.low = 0.1, .high = 3}, ir::Attrs::of(PowAttrs{.exponent = -1.7}), "_odd"),
      .rejects = unary_rejects()};
}

THIMBLE_OP_CASES(pow_tensor) {
  return {.cases = binary_cases({.low = 0.1, .high = 3}, {.low = -3, .high = 3}),
          .rejects = binary_rejects()};
}

}  // namespace thimble::test::pow_test
