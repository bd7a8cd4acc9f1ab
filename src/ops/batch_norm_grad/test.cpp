#include "harness/op_cases.h"

namespace thimble::test::batch_norm_grad_test {

THIMBLE_OP_CASES(batch_norm_grad) {
  // Rounding of sums of up to some thousand values in float, in another order.
  constexpr double kTolerance = 1e-4;
  const auto grad = [](const char* name, const Shape& x) {
    const TensorSpec statistic{.shape = {x[-1]}, .low = 0.5};
    return OpCase{.name = name,
                  .inputs = {{.shape = x}, {.shape = x}, statistic, statistic, statistic},
                  .expect = {x, {x[-1]}, {x[-1]}},
                  .tolerance = kTolerance};
  };
  const auto refused = [](const char* name, const Shape& dy, const Shape& x, const char* error) {
    return RejectCase{
        name, {{.shape = dy}, {.shape = x}, {.shape = {3}}, {.shape = {3}}}, {}, error};
  };
  return {.cases = {grad("few_channels", {5, 7, 3}), grad("many_blocks", {20, 40, 40, 1}),
                    grad("many_channels", {9, 131})},
          .rejects = {refused("one_value_a_channel", {1, 1, 3}, {1, 1, 3}, "take a larger batch"),
                      refused("another_shape", {2, 3}, {4, 3}, "dy of the shape of x")}};
}

}  // namespace thimble::test::batch_norm_grad_test
