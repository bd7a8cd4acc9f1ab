#include <gtest/gtest.h>

#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test::quantized_conv_transpose2d_test {
namespace {

const Quantization kInput{.scales = {0.05F}, .zero_points = {-11}};

Quantization per_channel(int64_t channels) {
  Quantization q{.axis = 3};
  for (int64_t k = 0; k < channels; ++k) {
    q.scales.push_back(0.003F + 0.0007F * static_cast<float>(k % 23));
  }
  return q;
}

OpCase transposed(const char* name, const Shape& x, const Shape& weight, const Shape& y,
                  QuantizedConvTranspose2dAttrs attrs = {}, bool bias = true) {
  attrs.scale = 0.5;
  attrs.zero_point = -4;
  OpCase made{.name = name,
              .inputs = {int8_spec(x, kInput), int8_spec(weight, per_channel(weight[3]))},
              .attrs = ir::Attrs::of(attrs),
              .expect = {y}};
  if (bias) made.inputs.push_back(bias_spec(y[3]));
  return made;
}

std::vector<OpCase> cases() {
  const auto fixed = Requantization::fixed_point;
  return {
      transposed("one_by_one", {3, 5, 4, 6}, {6, 1, 1, 7}, {3, 5, 4, 7}),
      transposed("one_pixel", {1, 1, 1, 2}, {2, 3, 4, 3}, {1, 3, 4, 3}, {}, false),
      transposed("stride_2_doubles", {3, 7, 5, 8}, {8, 4, 4, 4}, {3, 14, 10, 4},
                 {.stride = 2, .padding = 1}),
      transposed("stride_2_doubles_in_fixed_point", {3, 7, 5, 8}, {8, 4, 4, 4}, {3, 14, 10, 4},
                 {.stride = 2, .padding = 1, .requantization = fixed}),
      transposed("output_padding", {1, 4, 5, 3}, {3, 3, 3, 2}, {1, 8, 14, 2},
                 {.stride = {2, 3}, .padding = 1, .output_padding = {1, 1}}),
      transposed("stride_larger_than_kernel", {3, 3, 4, 2}, {2, 2, 2, 3}, {3, 10, 14, 3},
                 {.stride = 4}),
      transposed("dilation", {3, 4, 5, 2}, {2, 3, 2, 3}, {3, 6, 8, 3},
                 {.padding = 1, .dilation = {2, 5}}),
      transposed("groups", {3, 6, 5, 6}, {6, 3, 3, 3}, {3, 11, 9, 9},
                 {.stride = 2, .padding = 1, .groups = 3}),
      transposed("depthwise", {2, 5, 7, 37}, {37, 4, 4, 1}, {2, 10, 14, 37},
                 {.stride = 2, .padding = 1, .groups = 37}),
      transposed("many_channels", {2, 6, 9, 35}, {35, 3, 3, 53}, {2, 12, 18, 53},
                 {.stride = 2, .padding = 1, .output_padding = {1, 1}}),
      transposed("wide_rows", {1, 3, 40, 5}, {5, 4, 5, 19}, {1, 6, 120, 19},
                 {.stride = {2, 3}, .padding = 1}),
      transposed("stride_4_dilation_6", {1, 5, 6, 3}, {3, 3, 4, 20}, {1, 29, 39, 20},
                 {.stride = 4, .dilation = 6}),
      transposed("relu_in_fixed_point", {2, 4, 4, 3}, {3, 3, 3, 5}, {2, 4, 4, 5},
                 {.padding = 1, .activation = Activation::relu, .requantization = fixed}),
      transposed("empty_batch", {0, 5, 5, 2}, {2, 3, 3, 3}, {0, 7, 7, 3}),
  };
}

RejectCase refused(const char* name, std::vector<TensorSpec> inputs, const char* error,
                   const QuantizedConvTranspose2dAttrs& attrs = {}) {
  return {name, std::move(inputs), ir::Attrs::of(attrs), error};
}

// Every input element scatters its products over the sums.
std::vector<int8_t> oracle(const OpCase& test, const std::vector<int8_t>& x,
                           const std::vector<int8_t>& w, const std::vector<int32_t>& bias) {
  const auto& attrs = test.attrs.as<QuantizedConvTranspose2dAttrs>();
  const Shape& in = test.inputs[0].shape;
  const Shape& weight = test.inputs[1].shape;
  const Shape& out = test.expect[0];
  const int64_t group_c = in[3] / attrs.groups;
  std::vector<int64_t> sums(static_cast<size_t>(out.elements()));
  for (size_t i = 0; i < sums.size() && !bias.empty(); ++i) {
    sums[i] = bias[i % static_cast<size_t>(out[3])];
  }
  size_t from = 0;
  for (int64_t n = 0; n < in[0]; ++n) {
    for (int64_t h = 0; h < in[1]; ++h) {
      for (int64_t v = 0; v < in[2]; ++v) {
        for (int64_t c = 0; c < in[3]; ++c, ++from) {
          for (int64_t tap = 0; tap < weight[1] * weight[2]; ++tap) {
            const int64_t p =
                h * attrs.stride.h - attrs.padding.top + tap / weight[2] * attrs.dilation.h;
            const int64_t q =
                v * attrs.stride.w - attrs.padding.left + tap % weight[2] * attrs.dilation.w;
            if (p < 0 || p >= out[1] || q < 0 || q >= out[2]) continue;
            for (int64_t k = 0; k < weight[3]; ++k) {
              const int64_t to =
                  ((n * out[1] + p) * out[2] + q) * out[3] + c / group_c * weight[3] + k;
              const int64_t at = (c * weight[1] * weight[2] + tap) * weight[3] + k;
              sums[static_cast<size_t>(to)] +=
                  int64_t{x[from] - kInput.zero_points[0]} * w[static_cast<size_t>(at)];
            }
          }
        }
      }
    }
  }
  std::vector<int8_t> y;
  for (size_t i = 0; i < sums.size(); ++i) {
    const float scale = test.inputs[1].quantization.scales[i % static_cast<size_t>(weight[3])];
    const double factor = static_cast<double>(kInput.scales[0]) * static_cast<double>(scale) / 0.5;
    y.push_back(oracle_requantize(sums[i], factor, -4, attrs.requantization,
                                  attrs.activation == Activation::relu ? -4.0 : -128.0));
  }
  return y;
}

}  // namespace

THIMBLE_OP_CASES(quantized_conv_transpose2d) {
  const TensorSpec x = int8_spec({1, 5, 5, 3}, kInput);
  const TensorSpec weight = weight_spec({3, 3, 3, 4});
  return {
      .cases = cases(),
      .rejects =
          {
              refused("numbers", {{.shape = {1, 5, 5, 3}}, weight}, "quantize it first"),
              refused("weights_with_scales_along_another_axis",
                      {x, int8_spec({3, 3, 3, 4}, {.scales = {1.0F, 1.0F, 1.0F}, .axis = 0})},
                      "index of axis 3"),
              refused("other_channels", {x, weight_spec({4, 3, 3, 4})}, "expected a weight"),
              refused("a_bias_of_another_size", {x, weight, bias_spec(3)}, "bias to be [4]"),
              refused("output_padding_of_the_stride", {x, weight}, "output_padding",
                      {.output_padding = 1}),
              refused("padding_that_leaves_nothing", {x, weight}, "nothing is left",
                      {.padding = 4}),
              refused("a_scale_too_small", {x, weight}, "too far apart", {.scale = 1e-20}),
          },
  };
}

TEST(quantized_conv_transpose2d, equals_the_definition) {
  std::mt19937 random(11);
  for (const OpCase& test : cases()) {
    const std::vector<int8_t> x = random_int8(test.inputs[0].shape.elements(), random);
    const std::vector<int8_t> w = random_int8(test.inputs[1].shape.elements(), random);
    std::vector<int32_t> bias;
    if (test.inputs.size() > 2) {
      for (int64_t k = 0; k < test.inputs[2].shape[0]; ++k) {
        bias.push_back(static_cast<int32_t>(random() % 20001) - 10000);
      }
    }
    const Tensor image = quantized_tensor(DType::i8, test.inputs[0].shape, x, kInput);
    const Tensor weight =
        quantized_tensor(DType::i8, test.inputs[1].shape, w, test.inputs[1].quantization);
    Tensor added = tensor<int32_t>(DType::i32, {static_cast<int64_t>(bias.size())}, bias);
    added.absent = bias.empty();
    const auto y =
        run_op("quantized_conv_transpose2d", test.attrs, {image, weight, added}, Kernel::fast)[0];
    EXPECT_EQ(values_of<int8_t>(y), oracle(test, x, w, bias)) << test.name;
  }
}

}  // namespace thimble::test::quantized_conv_transpose2d_test
