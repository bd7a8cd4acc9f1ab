#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "ops/families/quantized/conv_micro_dims.h"
#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test::quantized_conv2d_test {
namespace {

namespace plain {
#include "ops/quantized_conv2d/ref.h"
}
namespace micro {
#include "ops/quantized_conv2d/micro.h"
}
#undef THIMBLE_OPS_COMMON_CONV_MICRO_H_
namespace dsp {
#include "ops/families/quantized/depthwise_cortex_m_dsp.h"
#include "ops/quantized_conv2d/micro.h"
}  // namespace dsp
#undef THIMBLE_OPS_COMMON_CONV_MICRO_H_
namespace helium {
#include "ops/families/quantized/depthwise_helium.h"
#include "ops/quantized_conv2d/micro.h"
}  // namespace helium

const Quantization kInput{.scales = {0.05F}, .zero_points = {-11}};

QuantizedConv2dAttrs scaled(QuantizedConv2dAttrs attrs, double scale = 0.5) {
  attrs.scale = scale;
  attrs.zero_point = -4;
  return attrs;
}

Quantization per_channel(int64_t channels) {
  Quantization q{.axis = 0};
  for (int64_t k = 0; k < channels; ++k) {
    q.scales.push_back(0.003F + 0.0007F * static_cast<float>(k % 23));
  }
  return q;
}

// Weights with one scale per output channel, and a bias.
OpCase convolution(const char* name, const Shape& x, const Shape& weight, const Shape& y,
                   const QuantizedConv2dAttrs& attrs = {}, bool bias = true) {
  OpCase made{.name = name,
              .inputs = {int8_spec(x, kInput), int8_spec(weight, per_channel(weight[0]))},
              .attrs = ir::Attrs::of(scaled(attrs)),
              .expect = {y}};
  if (bias) made.inputs.push_back(bias_spec(weight[0]));
  return made;
}

OpCase in_fixed_point(OpCase test) {
  test.name += "_in_fixed_point";
  auto attrs = test.attrs.as<QuantizedConv2dAttrs>();
  attrs.requantization = Requantization::fixed_point;
  test.attrs = ir::Attrs::of(attrs);
  return test;
}

std::vector<OpCase> convolutions() {
  std::vector<OpCase> cases{
      convolution("one_by_one", {3, 5, 4, 6}, {7, 1, 1, 6}, {3, 5, 4, 7}),
      convolution("many_channels_one_by_one", {2, 5, 7, 40}, {53, 1, 1, 40}, {2, 5, 7, 53}),
      convolution("many_channels", {2, 9, 8, 35}, {19, 3, 3, 35}, {2, 9, 8, 19}, {.padding = 1}),
      convolution("one_pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {}, false),
      convolution("stride_2_padding_1", {3, 9, 7, 3}, {16, 3, 3, 3}, {3, 5, 4, 16},
                  {.stride = 2, .padding = 1}),
      convolution("padding_of_each_side", {1, 5, 6, 3}, {4, 3, 3, 3}, {1, 6, 6, 4},
                  {.padding = {2, 1, 0, 2}}, false),
      convolution("padding_wider_than_kernel", {1, 3, 3, 2}, {2, 2, 2, 2}, {1, 10, 10, 2},
                  {.padding = 4}),
      convolution("same_even_kernel_stride_2", {1, 7, 6, 3}, {4, 4, 4, 3}, {1, 4, 3, 4},
                  {.stride = 2, .padding = Padding::same()}),
      convolution("dilation", {3, 9, 11, 2}, {3, 3, 2, 2}, {3, 7, 8, 3},
                  {.padding = 1, .dilation = {2, 5}}),
      convolution("groups", {3, 6, 5, 6}, {9, 3, 3, 2}, {3, 6, 5, 9}, {.padding = 1, .groups = 3}),
      convolution("depthwise", {3, 7, 7, 5}, {5, 3, 3, 1}, {3, 4, 4, 5},
                  {.stride = 2, .padding = 1, .groups = 5}),
      convolution("depthwise_of_many_channels", {2, 6, 21, 83}, {83, 3, 3, 1}, {2, 6, 21, 83},
                  {.padding = 1, .groups = 83}),
      convolution("depthwise_kernel_7_stride_2", {1, 12, 11, 33}, {33, 7, 7, 1}, {1, 6, 6, 33},
                  {.stride = 2, .padding = 3, .groups = 33}),
      convolution("depthwise_multiplier", {2, 5, 5, 4}, {8, 3, 3, 1}, {2, 5, 5, 8},
                  {.padding = 1, .groups = 4}),
      convolution("depthwise_dilation", {1, 8, 20, 18}, {18, 3, 3, 1}, {1, 8, 20, 18},
                  {.padding = 2, .dilation = 2, .groups = 18}),
      convolution("relu", {2, 5, 5, 3}, {6, 3, 3, 3}, {2, 3, 3, 6},
                  {.activation = Activation::relu}),
      convolution("relu6", {2, 5, 5, 3}, {6, 3, 3, 3}, {2, 3, 3, 6},
                  {.activation = Activation::relu6}),
      convolution("empty_batch", {0, 5, 5, 3}, {6, 3, 3, 3}, {0, 3, 3, 6}),
      convolution("many_rows", {1, 40, 33, 16}, {24, 3, 3, 16}, {1, 40, 33, 24}, {.padding = 1}),
  };
  OpCase one_scale = convolution("one_scale", {2, 4, 4, 3}, {5, 3, 3, 3}, {2, 2, 2, 5});
  one_scale.inputs[1] = weight_spec({5, 3, 3, 3});
  cases.push_back(one_scale);
  const size_t floating = cases.size();
  for (size_t i = 0; i < floating; ++i) cases.push_back(in_fixed_point(cases[i]));
  return cases;
}

RejectCase refused(const char* name, std::vector<TensorSpec> inputs, const char* error,
                   const QuantizedConv2dAttrs& attrs = {}) {
  return {name, std::move(inputs), ir::Attrs::of(attrs), error};
}

// The convolution of this case by its definition, for given contents.
std::vector<int8_t> oracle(const OpCase& test, const std::vector<int8_t>& x,
                           const std::vector<int8_t>& w, const std::vector<int32_t>& bias) {
  const auto& attrs = test.attrs.as<QuantizedConv2dAttrs>();
  const Shape& in = test.inputs[0].shape;
  const Shape& weight = test.inputs[1].shape;
  const Shape& out = test.expect[0];
  const Quantization& scales = test.inputs[1].quantization;
  Padding pad = attrs.padding;
  if (pad.automatic) {
    const auto before = [](int64_t places, int64_t stride, int64_t window, int64_t size) {
      return std::max<int64_t>(0, (places - 1) * stride + window - size) / 2;
    };
    pad.top = before(out[1], attrs.stride.h, weight[1], in[1]);
    pad.left = before(out[2], attrs.stride.w, weight[2], in[2]);
  }
  const int64_t group_c = weight[3];
  const int64_t group_k = weight[0] / attrs.groups;
  const float six = 6.0F / static_cast<float>(attrs.scale);
  const double low = attrs.activation == Activation::none
                         ? -128.0
                         : std::max(-128.0, static_cast<double>(attrs.zero_point));
  const double high = attrs.activation == Activation::relu6
                          ? std::min(127.0, static_cast<double>(attrs.zero_point) +
                                                std::floor(static_cast<double>(six) + 0.5))
                          : 127.0;
  std::vector<int8_t> y;
  for (int64_t n = 0; n < out[0]; ++n) {
    for (int64_t p = 0; p < out[1]; ++p) {
      for (int64_t q = 0; q < out[2]; ++q) {
        for (int64_t k = 0; k < out[3]; ++k) {
          int64_t sum = bias.empty() ? 0 : bias[static_cast<size_t>(k)];
          for (int64_t r = 0; r < weight[1]; ++r) {
            for (int64_t s = 0; s < weight[2]; ++s) {
              const int64_t h = p * attrs.stride.h - pad.top + r * attrs.dilation.h;
              const int64_t v = q * attrs.stride.w - pad.left + s * attrs.dilation.w;
              if (h < 0 || h >= in[1] || v < 0 || v >= in[2]) continue;
              for (int64_t c = 0; c < group_c; ++c) {
                const int64_t from =
                    ((n * in[1] + h) * in[2] + v) * in[3] + k / group_k * group_c + c;
                const int64_t tap = ((k * weight[1] + r) * weight[2] + s) * group_c + c;
                sum += int64_t{x[static_cast<size_t>(from)] - kInput.zero_points[0]} *
                       w[static_cast<size_t>(tap)];
              }
            }
          }
          const float scale = scales.scales[scales.axis ? static_cast<size_t>(k) : 0];
          const double factor = static_cast<double>(kInput.scales[0]) * static_cast<double>(scale) /
                                static_cast<double>(static_cast<float>(attrs.scale));
          y.push_back(oracle_requantize(sum, factor, static_cast<int>(attrs.zero_point),
                                        attrs.requantization, low, high));
        }
      }
    }
  }
  return y;
}

std::vector<int8_t> run(const OpCase& test, const std::vector<int8_t>& x,
                        const std::vector<int8_t>& w, const std::vector<int32_t>& bias,
                        Kernel kernel) {
  const Tensor image = quantized_tensor(DType::i8, test.inputs[0].shape, x, kInput);
  const Tensor weight =
      quantized_tensor(DType::i8, test.inputs[1].shape, w, test.inputs[1].quantization);
  Tensor added = tensor<int32_t>(DType::i32, {static_cast<int64_t>(bias.size())}, bias);
  added.absent = bias.empty();
  return values_of<int8_t>(
      run_op("quantized_conv2d", test.attrs, {image, weight, added}, kernel)[0]);
}

}  // namespace

THIMBLE_OP_CASES(quantized_conv2d) {
  const TensorSpec x = int8_spec({2, 5, 5, 3}, kInput);
  const TensorSpec weight = weight_spec({4, 3, 3, 3});
  return {
      .cases = convolutions(),
      .rejects =
          {
              refused("numbers", {{.shape = {2, 5, 5, 3}}, weight}, "quantize it first"),
              refused("int8_without_a_scale", {plain_int8({2, 5, 5, 3}), weight},
                      "quantize it first"),
              refused("scales_along_an_axis_of_x",
                      {int8_spec({2, 5, 5, 3}, {.scales = {1.0F, 1.0F, 1.0F}, .axis = 3}), weight},
                      "one scale for the whole tensor"),
              refused("weights_that_are_numbers", {x, {.shape = {4, 3, 3, 3}}},
                      "weight must be i8"),
              refused("weights_with_a_zero_point",
                      {x, int8_spec({4, 3, 3, 3}, {.scales = {1.0F}, .zero_points = {1}})},
                      "zero points of 0"),
              refused("weights_with_scales_along_another_axis",
                      {x, int8_spec({4, 3, 3, 3}, {.scales = {1.0F, 1.0F, 1.0F}, .axis = 3})},
                      "index of axis 0"),
              refused("other_channels", {x, weight_spec({4, 3, 3, 2})}, "expected a weight"),
              refused("groups_that_do_not_divide", {x, weight}, "groups to divide", {.groups = 2}),
              refused("a_bias_of_numbers", {x, weight, {.shape = {4}}}, "bias must be i32"),
              refused("a_bias_of_another_size", {x, weight, bias_spec(3)}, "bias to be [4]"),
              refused("a_window_larger_than_the_image", {x, weight_spec({4, 7, 7, 3})},
                      "does not fit"),
              refused("a_scale_of_zero", {x, weight}, "above 0", {.scale = 0.0}),
              refused("a_scale_too_small", {x, weight}, "too far apart", {.scale = 1e-20}),
              refused("a_zero_point_beyond_int8", {x, weight}, "from -128 to 127",
                      {.zero_point = -129}),
          },
  };
}

// Results that lie within their bounds, at them, and mostly beyond.
THIMBLE_OP_CASES(quantized_conv2d_masked) {
  OpCases all;
  for (const double scale : {0.5, 0.05, 0.002}) {
    for (OpCase test : convolutions()) {
      auto attrs = test.attrs.as<QuantizedConv2dAttrs>();
      attrs.scale = scale;
      test.name += scale == 0.5 ? "" : scale == 0.05 ? "_clamped" : "_mostly_clamped";
      test.attrs = ir::Attrs::of(attrs);
      test.expect.push_back(test.expect[0]);
      all.cases.push_back(std::move(test));
    }
  }
  return all;
}

// y is that of quantized_conv2d, and bits are those of quantized_conv2d_inside.
TEST(quantized_conv2d_masked, computes_result_and_mask) {
  std::mt19937 random(11);
  for (const double scale : {0.5, 0.05, 0.002}) {
    for (OpCase test : convolutions()) {
      auto attrs = test.attrs.as<QuantizedConv2dAttrs>();
      for (const int64_t zero_point : {-128, -4, 0, 127}) {
        attrs.scale = scale;
        attrs.zero_point = zero_point;
        std::vector<Tensor> inputs;
        for (const TensorSpec& spec : test.inputs) {
          if (spec.dtype == DType::i8) {
            inputs.push_back(quantized_tensor(DType::i8, spec.shape,
                                              random_int8(spec.shape.elements(), random),
                                              spec.quantization));
          } else {
            inputs.push_back(
                tensor(DType::i32, spec.shape,
                       std::vector<int32_t>(static_cast<size_t>(spec.shape.elements()), 300)));
          }
        }
        const ir::Attrs given = ir::Attrs::of(attrs);
        const auto both = run_op("quantized_conv2d_masked", given, inputs, Kernel::fast);
        const std::string name = test.name + fmt::format(" {} {}", scale, zero_point);
        EXPECT_EQ(both, run_op("quantized_conv2d_masked", given, inputs, Kernel::reference))
            << name;
        EXPECT_EQ(both[0], run_op("quantized_conv2d", given, inputs, Kernel::reference)[0]) << name;
        for (const Kernel kernel : {Kernel::reference, Kernel::fast}) {
          EXPECT_EQ(both[1], run_op("quantized_conv2d_inside", given, inputs, kernel)[0]) << name;
        }
      }
    }
  }
}

TEST(quantized_conv2d, equals_the_definition) {
  std::mt19937 random(7);
  for (const OpCase& test : convolutions()) {
    const std::vector<int8_t> x = random_int8(test.inputs[0].shape.elements(), random);
    const std::vector<int8_t> w = random_int8(test.inputs[1].shape.elements(), random);
    std::vector<int32_t> bias;
    if (test.inputs.size() > 2) {
      for (int64_t k = 0; k < test.inputs[2].shape[0]; ++k) {
        bias.push_back(static_cast<int32_t>(random() % 20001) - 10000);
      }
    }
    const std::vector<int8_t> wanted = oracle(test, x, w, bias);
    EXPECT_EQ(run(test, x, w, bias, Kernel::reference), wanted) << test.name;
    EXPECT_EQ(run(test, x, w, bias, Kernel::fast), wanted) << test.name;
  }
}

// What is written for microcontrollers: without an extension, with DSP, with Helium.
struct MicroCase {
  const char* name;
  conv_dims conv;
};

std::vector<MicroCase> micro_cases() {
  const auto of = [](const char* name, int h, int w, int c, int k, int window, int stride, int pad,
                     int dilation, int groups) {
    const int reach = (window - 1) * dilation + 1;
    return MicroCase{name,
                     {.n = 2,
                      .h = h,
                      .w = w,
                      .c = c,
                      .p = (h + 2 * pad - reach) / stride + 1,
                      .q = (w + 2 * pad - reach) / stride + 1,
                      .k = k,
                      .r = window,
                      .s = window,
                      .stride_h = stride,
                      .stride_w = stride,
                      .pad_top = pad,
                      .pad_left = pad,
                      .dilation_h = dilation,
                      .dilation_w = dilation,
                      .groups = groups}};
  };
  return {of("pointwise", 3, 9, 16, 6, 1, 1, 0, 1, 1),
          of("pointwise_with_odd_channels", 4, 5, 7, 5, 1, 1, 0, 1, 1),
          of("colours", 9, 9, 3, 4, 3, 2, 1, 1, 1),
          of("many_columns", 2, 35, 5, 3, 3, 1, 1, 1, 1),
          of("pointwise_of_many_columns", 2, 32, 8, 4, 1, 1, 0, 1, 1),
          of("dilated", 8, 7, 4, 3, 3, 1, 2, 2, 1),
          of("more_taps_than_fit", 3, 3, 160, 2, 3, 1, 1, 1, 1),
          of("groups", 5, 6, 6, 4, 3, 1, 1, 1, 2),
          of("depthwise", 5, 9, 5, 5, 3, 1, 1, 1, 5),
          of("depthwise_of_few_columns", 3, 3, 4, 4, 3, 1, 1, 1, 4),
          of("depthwise_with_a_stride", 11, 12, 3, 3, 7, 2, 3, 1, 3),
          of("depthwise_of_5", 4, 8, 3, 3, 5, 1, 2, 1, 3),
          of("depthwise_dilated", 9, 9, 2, 2, 3, 1, 2, 2, 2),
          of("pointwise_of_eights", 2, 6, 24, 8, 1, 1, 0, 1, 1),
          of("colours_without_padding", 7, 10, 3, 8, 3, 2, 0, 1, 1),
          of("depthwise_of_four_channels", 9, 9, 4, 4, 3, 1, 1, 1, 4),
          of("depthwise_of_eight_channels", 4, 4, 8, 8, 5, 1, 2, 1, 8),
          of("depthwise_of_7", 8, 8, 8, 8, 7, 1, 3, 1, 8),
          of("depthwise_of_7_with_a_stride", 17, 13, 12, 12, 7, 2, 3, 1, 12),
          of("depthwise_of_3_with_a_stride", 8, 8, 8, 8, 3, 2, 1, 1, 8),
          of("depthwise_of_2", 5, 6, 4, 4, 2, 1, 0, 1, 4),
          of("depthwise_of_4_with_a_stride", 9, 10, 4, 4, 4, 2, 1, 1, 4),
          of("depthwise_of_9", 9, 6, 4, 4, 9, 1, 4, 1, 4),
          of("depthwise_in_parts", 70, 60, 4, 4, 3, 1, 1, 1, 4)};
}

struct MicroKernels {
  const char* name;
  decltype(&plain::quantized_conv2d_ref) result;
  decltype(&plain::quantized_conv2d_inside_ref) inside;
  decltype(&plain::quantized_conv2d_masked_ref) both;
};
constexpr MicroKernels kMicroKernels[] = {
    {"micro", &micro::quantized_conv2d_ref, &micro::quantized_conv2d_inside_ref,
     &micro::quantized_conv2d_masked_ref},
    {"dsp", &dsp::quantized_conv2d_ref, &dsp::quantized_conv2d_inside_ref,
     &dsp::quantized_conv2d_masked_ref},
    {"helium", &helium::quantized_conv2d_ref, &helium::quantized_conv2d_inside_ref,
     &helium::quantized_conv2d_masked_ref}};

TEST(quantized_conv2d, of_microcontrollers_has_the_results_of_the_reference) {
  std::mt19937 random(11);
  for (const MicroCase& test : micro_cases()) {
    const conv_dims& d = test.conv;
    const auto size = [](int64_t n) { return static_cast<size_t>(n); };
    const std::vector<int8_t> x = random_int8(int64_t{d.n} * d.h * d.w * d.c, random);
    const std::vector<int8_t> w = random_int8(int64_t{d.k} * d.r * d.s * d.c / d.groups, random);
    std::vector<int32_t> bias;
    for (int k = 0; k < d.k; ++k) bias.push_back(static_cast<int32_t>(random() % 20001) - 10000);
    bias[0] = INT32_MIN;
    for (const bool fixed_point : {false, true}) {
      for (const int low : {-128, -4}) {
        SCOPED_TRACE(fmt::format("{}, fixed_point {}, low {}", test.name, fixed_point, low));
        std::vector<std::byte> params(sizeof(quantized_conv2d_dims) +
                                      size(d.k) * sizeof(quantized_factor));
        auto* const dims =
            new (params.data()) quantized_conv2d_dims{d, -11, {fixed_point ? 1 : 0, -4, low, 127}};
        for (int k = 0; k < d.k; ++k) {
          const quantized_factor factor{0.003F + 0.001F * static_cast<float>(k), 1 << 30, -6};
          std::memcpy(
              params.data() + sizeof(quantized_conv2d_dims) + size(k) * sizeof(quantized_factor),
              &factor, sizeof factor);
        }
        const size_t results = size(d.n) * size(d.p) * size(d.q) * size(d.k);
        std::vector<int8_t> wanted(results);
        plain::quantized_conv2d_ref(wanted.data(), x.data(), w.data(), bias.data(), dims);
        std::vector<uint8_t> wanted_bits((results + 7) / 8);
        plain::quantized_conv2d_inside_ref(wanted_bits.data(), x.data(), w.data(), nullptr, dims);
        std::vector<int8_t> masked(results);
        std::vector<uint8_t> masked_bits(wanted_bits.size());
        plain::quantized_conv2d_masked_ref(masked.data(), masked_bits.data(), x.data(), w.data(),
                                           bias.data(), dims);
        for (const MicroKernels& kernels : kMicroKernels) {
          SCOPED_TRACE(kernels.name);
          std::vector<int8_t> made(results);
          std::vector<uint8_t> bits(wanted_bits.size());
          kernels.result(made.data(), x.data(), w.data(), bias.data(), dims);
          EXPECT_EQ(made, wanted);
          kernels.inside(bits.data(), x.data(), w.data(), nullptr, dims);
          EXPECT_EQ(bits, wanted_bits);
          made.assign(results, 99);
          kernels.both(made.data(), bits.data(), x.data(), w.data(), bias.data(), dims);
          EXPECT_EQ(made, masked);
          EXPECT_EQ(bits, masked_bits);
        }
      }
    }
  }
}

// Channels without a weight of notice have biases at the end of int32 in real networks.
TEST(quantized_conv2d, saturates_sums) {
  OpCase test = convolution("", {1, 3, 3, 2}, {4, 3, 3, 2}, {1, 1, 1, 4});
  test.inputs[1].quantization.scales = {1e-9F, 1e-9F, 1e-9F, 1e-9F};
  auto attrs = test.attrs.as<QuantizedConv2dAttrs>();
  attrs.scale = 1e-3;
  for (const Requantization how : kRequantizations) {
    attrs.requantization = how;
    test.attrs = ir::Attrs::of(attrs);
    const std::vector<int8_t> x(18, 127);
    std::vector<int8_t> w(72, 127);
    std::fill(w.begin() + 18, w.begin() + 36, static_cast<int8_t>(-127));
    std::fill(w.begin() + 54, w.end(), static_cast<int8_t>(-127));
    const std::vector<int32_t> bias{INT32_MAX, INT32_MIN, INT32_MIN, INT32_MAX};
    const auto y = run(test, x, w, bias, Kernel::fast);
    EXPECT_EQ(y, run(test, x, w, bias, Kernel::reference));
    EXPECT_EQ(y, oracle(test, x, w, bias));
    EXPECT_EQ(y, (std::vector<int8_t>{103, -111, -111, 103}));  // 2^31 * 5e-8 = 107.4
  }
}

}  // namespace thimble::test::quantized_conv2d_test
