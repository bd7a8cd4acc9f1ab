#include "harness/op_cases.h"

namespace thimble::test::straight_through_round_test {

THIMBLE_OP_CASES(straight_through_round) {
  // The gradient is 1, not the derivative of the rounding.
  const auto of = [](const char* name, const Shape& x) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x, .low = -5.0, .high = 5.0}},
                  .expect = {x},
                  .no_grad = {0}};
  };
  return {
      .cases = {of("matrix", {3, 7}), of("scalar", {}), of("empty", {0, 4})},
      .rejects = {{"integers", {{.shape = {2}, .dtype = DType::i32}}, {}, "must be floating"}},
  };
}

}  // namespace thimble::test::straight_through_round_test
