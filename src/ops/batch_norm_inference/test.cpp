#include "harness/op_cases.h"

namespace thimble::test::batch_norm_inference_test {

THIMBLE_OP_CASES(batch_norm_inference) {
  const auto normalised = [](const char* name, const Shape& x,
                             const BatchNormInferenceAttrs& attrs = {}, bool affine = true) {
    const TensorSpec factor{.shape = {x[-1]}, .absent = !affine};
    const TensorSpec mean{.shape = {x[-1]}};
    const TensorSpec variance{.shape = {x[-1]}, .low = 0.1, .high = 2.0};
    return OpCase{.name = name,
                  .inputs = {{.shape = x}, factor, factor, mean, variance},
                  .attrs = ir::Attrs::of(attrs),
                  .expect = {x}};
  };
  // Scales at which all three pieces of the activation occur.
  OpCase relu6 = normalised("relu6", {4, 3, 21}, {.activation = Activation::relu6});
  relu6.inputs[1] = {.shape = {21}, .low = 4.0, .high = 9.0};
  return {
      .cases = {relu6, normalised("one_channel", {3, 5, 7, 1}), normalised("one_value", {1, 1}),
                normalised("three_channels", {3, 5, 7, 3}), normalised("many_channels", {5, 130}),
                normalised("hundreds_of_channels", {11, 300}),
                normalised("wide_rows_and_a_part_of_one", {40, 33}),
                normalised("many_blocks", {3, 41, 50, 6}),
                normalised("without_scale_and_shift", {4, 5}, {}, false),
                normalised("relu", {4, 3, 5}, {.activation = Activation::relu}),
                normalised("epsilon", {4, 5}, {.epsilon = 0.5}), normalised("empty_batch", {0, 5})},
      .rejects = {
          {.name = "a_mean_of_another_size",
           .inputs =
               {{.shape = {4, 3}}, {.shape = {3}}, {.shape = {3}}, {.shape = {4}}, {.shape = {3}}},
           .error = "expected mean of shape [3]"}}};
}

}  // namespace thimble::test::batch_norm_inference_test
