#include <gtest/gtest.h>

#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test::quantized_average_pool2d_test {
namespace {

const Quantization kInput{.scales = {0.05F}, .zero_points = {-11}};

OpCase pooled(const char* name, const Shape& x, const Shape& y,
              const QuantizedAveragePool2dAttrs& attrs = {}) {
  return {name, {int8_spec(x, kInput)}, ir::Attrs::of(attrs), {y}};
}

std::vector<OpCase> pools() {
  std::vector<OpCase> cases{
      pooled("halves", {2, 6, 8, 5}, {2, 3, 4, 5}),
      pooled("overlapping", {2, 7, 8, 3}, {2, 3, 3, 3}, {.kernel = 3, .stride = 2}),
      pooled("padded", {1, 6, 5, 4}, {1, 3, 3, 4}, {.kernel = 3, .stride = 2, .padding = 1}),
      pooled("padding_not_counted", {1, 6, 5, 4}, {1, 3, 3, 4},
             {.kernel = 3, .stride = 2, .padding = 1, .count_include_pad = false}),
      pooled("ceil_mode", {1, 6, 5, 2}, {1, 4, 3, 2},
             {.kernel = 3, .stride = 2, .padding = 1, .ceil_mode = true}),
      pooled("whole_image", {3, 7, 6, 33}, {3, 1, 1, 33}, {.kernel = {7, 6}}),
      pooled("empty_batch", {0, 6, 6, 2}, {0, 3, 3, 2}),
  };
  const size_t floating = cases.size();
  for (size_t i = 0; i < floating; ++i) {
    OpCase test = cases[i];
    test.name += "_in_fixed_point";
    auto attrs = test.attrs.as<QuantizedAveragePool2dAttrs>();
    attrs.requantization = Requantization::fixed_point;
    test.attrs = ir::Attrs::of(attrs);
    cases.push_back(test);
  }
  return cases;
}

// The mean of the window at (p, q) of one image and channel, by its definition.
int8_t oracle(const std::vector<int8_t>& x, const Shape& shape,
              const QuantizedAveragePool2dAttrs& attrs, int64_t n, int64_t p, int64_t q,
              int64_t c) {
  const Pair stride = attrs.stride == Pair(0) ? attrs.kernel : attrs.stride;
  double sum = 0.0;
  double count = 0.0;
  for (int64_t r = 0; r < attrs.kernel.h; ++r) {
    for (int64_t s = 0; s < attrs.kernel.w; ++s) {
      const int64_t h = p * stride.h - attrs.padding.top + r;
      const int64_t w = q * stride.w - attrs.padding.left + s;
      if (h >= shape[1] + attrs.padding.bottom || w >= shape[2] + attrs.padding.right) continue;
      const bool inside = h >= 0 && h < shape[1] && w >= 0 && w < shape[2];
      if (!inside && !attrs.count_include_pad) continue;
      sum += inside ? x[static_cast<size_t>(((n * shape[1] + h) * shape[2] + w) * shape[3] + c)]
                    : -11.0;
      count += 1.0;
    }
  }
  const double mean = sum / count;
  return static_cast<int8_t>(attrs.requantization == Requantization::fixed_point
                                 ? std::round(mean)
                                 : std::nearbyint(mean));
}

}  // namespace

THIMBLE_OP_CASES(quantized_average_pool2d) {
  const ir::Attrs defaults = ir::Attrs::of(QuantizedAveragePool2dAttrs());
  return {
      .cases = pools(),
      .rejects = {{"numbers", {{.shape = {1, 4, 4, 2}}}, defaults, "quantize it first"},
                  {"int8_without_a_scale", {plain_int8({1, 4, 4, 2})}, defaults, "quantize it"},
                  {"no_image", {int8_spec({4, 4}, kInput)}, defaults, "expected x to be images"},
                  {"a_window_larger_than_the_image",
                   {int8_spec({1, 1, 4, 2}, kInput)},
                   defaults,
                   "does not fit"}},
  };
}

TEST(quantized_average_pool2d, equals_the_definition) {
  std::mt19937 random(5);
  for (const OpCase& test : pools()) {
    const Shape& shape = test.inputs[0].shape;
    const std::vector<int8_t> x = random_int8(shape.elements(), random);
    const Tensor image = quantized_tensor(DType::i8, shape, x, kInput);
    const auto y =
        values_of<int8_t>(run_op("quantized_average_pool2d", test.attrs, {image}, Kernel::fast)[0]);
    size_t at = 0;
    const Shape& out = test.expect[0];
    for (int64_t n = 0; n < out[0]; ++n) {
      for (int64_t p = 0; p < out[1]; ++p) {
        for (int64_t q = 0; q < out[2]; ++q) {
          for (int64_t c = 0; c < out[3]; ++c) {
            const int8_t wanted =
                oracle(x, shape, test.attrs.as<QuantizedAveragePool2dAttrs>(), n, p, q, c);
            ASSERT_EQ(y[at++], wanted) << test.name << " " << p << " " << q << " " << c;
          }
        }
      }
    }
  }
}

TEST(quantized_average_pool2d, keeps_the_quantization) {
  Graph g;
  const Value x = g.input("x", {4, 4, 3}, DType::i8, kInput);
  ASSERT_NE(quantized_average_pool2d(x).quantization(), nullptr);
  EXPECT_EQ(*quantized_average_pool2d(x).quantization(), kInput);
  const Value means = quantized_global_average_pool2d(x);
  EXPECT_EQ(*means.quantization(), kInput);
  EXPECT_EQ(means.shape(), (Shape{kBatch, 3}));
}

}  // namespace thimble::test::quantized_average_pool2d_test
