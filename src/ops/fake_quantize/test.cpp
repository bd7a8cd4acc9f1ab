#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test::fake_quantize_test {
namespace {

constexpr double kTolerance = 1e-4;  // of long sums in another order

std::vector<float> fast(const std::vector<float>& x, const std::vector<float>& scale,
                        const FakeQuantizeAttrs& attrs = {}) {
  const Tensor of_x = tensor({static_cast<int64_t>(x.size())}, x);
  const Tensor of_scale = tensor({static_cast<int64_t>(scale.size())}, scale);
  return values_of<float>(
      run_op("fake_quantize", ir::Attrs::of(attrs), {of_x, of_scale}, Kernel::fast)[0]);
}

}  // namespace

THIMBLE_OP_CASES(fake_quantize) {
  // Numbers on both sides of the bounds. The gradient is no derivative there.
  const auto of = [](const char* name, const Shape& x, int64_t scales,
                     const FakeQuantizeAttrs& attrs = {}) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x, .low = -9.0, .high = 9.0},
                             {.shape = {scales}, .low = 0.04, .high = 0.1}},
                  .attrs = ir::Attrs::of(attrs),
                  .expect = {x},
                  .tolerance = kTolerance,
                  .no_grad = {0, 1}};
  };
  // Beyond a bound, y = scale * (bound - zero point): finite differences are right.
  const auto beyond = [](const char* name, double low, double high, const Shape& x, int64_t scales,
                         const FakeQuantizeAttrs& attrs = {}) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x, .low = low, .high = high},
                             {.shape = {scales}, .low = 0.01, .high = 0.02}},
                  .attrs = ir::Attrs::of(attrs),
                  .expect = {x},
                  .tolerance = kTolerance};
  };
  const TensorSpec some{.shape = {3, 4}};
  const auto refuse = [&](const char* name, const TensorSpec& x, const Shape& scale,
                          const FakeQuantizeAttrs& attrs, const char* error) {
    return RejectCase{name, {x, {.shape = scale}}, ir::Attrs::of(attrs), error};
  };
  return {
      .cases = {of("one_scale", {3, 5, 7}, 1), of("zero_point", {3, 5, 7}, 1, {.zero_point = -128}),
                of("four_bits", {3, 37}, 1, {.low = -7, .high = 7}),
                of("channels_first", {5, 3, 7}, 5, {.low = -127}),
                of("channels_between", {3, 5, 7}, 5, {.axis = 1}),
                of("channels_last", {3, 70}, 70, {.zero_point = 4, .axis = -1}),
                of("long_lines", {2, 40000}, 2), of("long_vector", {70001}, 1),
                of("many_short_lines", {5000, 9}, 5000), of("scalar", {}, 1),
                of("empty", {0, 4}, 4, {.axis = 1}), of("no_channels", {0, 4}, 0),
                of("parts", {3, 37}, 1, {.parts = 4}),
                of("wide_bounds", {37}, 1, {.low = -(1 << 30), .high = 1 << 30}),
                beyond("above", 5.0, 6.0, {3, 7}, 1, {.zero_point = -5}),
                beyond("below", -6.0, -5.0, {4, 6}, 4, {.zero_point = 3, .low = -120}),
                beyond("above_by_column", 5.0, 6.0, {4, 6}, 6, {.axis = 1})},
      .rejects = {refuse("another_number_of_scales", some, {4}, {}, "one for each index"),
                  refuse("a_matrix_of_scales", some, {1, 1}, {}, "one for each index"),
                  refuse("scales_of_a_scalar", {.shape = {}}, {2}, {}, "for a scalar"),
                  refuse("no_such_axis", some, {3}, {.axis = 2}, "axis"),
                  refuse("no_bounds", some, {1}, {.low = 3, .high = 3}, "low < high"),
                  refuse("bounds_too_wide", some, {1}, {.low = -(1 << 30) - 1}, "from -2^30"),
                  refuse("zero_point_outside", some, {1}, {.zero_point = 128}, "a zero point from"),
                  refuse("no_parts", some, {1}, {.parts = 0}, "parts from 1"),
                  refuse("integers", {.shape = {2}, .dtype = DType::i32}, {1}, {},
                         "must be floating")},
  };
}

TEST(fake_quantize, rounds_halves_to_even_and_keeps_to_its_bounds) {
  EXPECT_EQ(fast({0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 9.0F, -9.0F}, {1.0F}, {.low = -7, .high = 7}),
            (std::vector<float>{0, 2, 2, 0, -2, 7, -7}));
  EXPECT_EQ(fast({-1.0F, 0.3F, 200.0F}, {0.5F}, {.zero_point = -128}),
            (std::vector<float>{0, 0.5F, 127.5F}));
  EXPECT_TRUE(std::isnan(fast({NAN}, {1.0F})[0]));
  EXPECT_EQ(fast({INFINITY, -INFINITY}, {0.5F}), (std::vector<float>{63.5F, -64.0F}));
}

// The integers and the numbers that they stand for are those of the int8 ops, bit by bit.
TEST(fake_quantize, has_the_bits_of_quantize_and_dequantize) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> draw(-9.0F, 9.0F);
  for (const float scale : {0.0078431377F, 0.05F, 0.3F, 3.7F}) {
    for (const int64_t zero : {-128, -5, 0, 127}) {
      std::vector<float> x(4099);
      for (float& value : x) value = draw(random);
      for (int i = 0; i < 999; ++i) {
        x[static_cast<size_t>(i)] = scale * (static_cast<float>(i - 500) + 0.5F);  // halves
      }
      const ir::Attrs to_int8 = ir::Attrs::of(QuantizeOptions{static_cast<double>(scale), zero});
      const Tensor given = tensor({static_cast<int64_t>(x.size())}, x);
      const auto integers =
          values_of<int8_t>(run_op("quantize", to_int8, {given}, Kernel::fast)[0]);
      const Quantization q{.scales = {scale}, .zero_points = {static_cast<int32_t>(zero)}};
      const Tensor quantized =
          quantized_tensor(DType::i8, {static_cast<int64_t>(x.size())}, integers, q);
      EXPECT_EQ(fast(x, {scale}, {.zero_point = zero}),
                values_of<float>(run_op("dequantize", {}, {quantized}, Kernel::fast)[0]))
          << scale << " " << zero;
    }
  }
}

// Means of whole steps: f32 may put a half on either side, parts put it back.
TEST(fake_quantize, parts_make_halves_exact) {
  const float scale = 0.0078431377F;
  for (int sum = -500; sum <= 500; ++sum) {
    for (const int parts : {2, 4, 6, 9}) {
      const float mean = scale * static_cast<float>(sum) / static_cast<float>(parts);
      const double wanted =
          std::clamp(std::nearbyint(static_cast<double>(sum) / parts), -128.0, 127.0);
      EXPECT_EQ(fast({mean}, {scale}, {.parts = parts})[0], scale * static_cast<float>(wanted))
          << sum << " / " << parts;
    }
  }
}

}  // namespace thimble::test::fake_quantize_test
