#include <gtest/gtest.h>

#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test::quantized_mean_test {
namespace {

const Quantization kInput{.scales = {0.05F}, .zero_points = {-11}};

ir::Attrs over(std::vector<int64_t> axes, Requantization how = {}, double scale = 0.02,
               bool keepdims = false) {
  return ir::Attrs::of(QuantizedMeanAttrs{std::move(axes), keepdims, scale, 5, how});
}

}  // namespace

THIMBLE_OP_CASES(quantized_mean) {
  const TensorSpec image = int8_spec({3, 5, 4, 6}, kInput);
  const Requantization fixed = Requantization::fixed_point;
  return {
      .cases = {{"places", {image}, over({1, 2}), {{3, 6}}},
                {"places_in_fixed_point", {image}, over({1, 2}, fixed), {{3, 6}}},
                {"places_kept", {image}, over({1, 2}, {}, 0.02, true), {{3, 1, 1, 6}}},
                {"channels", {image}, over({-1}, fixed), {{3, 5, 4}}},
                {"first_and_last", {image}, over({0, 3}), {{5, 4}}},
                {"everything", {int8_spec({7, 9}, kInput)}, over({}, fixed), {{}}},
                {"one_element", {int8_spec({3, 1}, kInput)}, over({1}), {{3}}},
                {"many", {int8_spec({2, 4099}, kInput)}, over({1}, fixed, 0.004), {{2}}},
                {"empty_batch", {int8_spec({0, 3}, kInput)}, over({1}), {{0}}}},
      .rejects = {{"numbers", {{.shape = {2, 3}}}, over({1}), "quantize it first"},
                  {"an_axis_that_does_not_exist", {image}, over({4}), "axis"},
                  {"nothing_to_average",
                   {int8_spec({3, 0}, kInput)},
                   over({1}),
                   "at least one element in each mean"},
                  {"a_scale_of_zero", {image}, over({1}, {}, 0.0), "above 0"},
                  {"scales_too_far_apart", {image}, over({1}, {}, 1e-12), "too far apart"}},
  };
}

// Sums of n numbers over a result of another scale, by the definition of each convention.
TEST(quantized_mean, equals_the_oracle) {
  std::mt19937 random(24);
  for (const Requantization how : kRequantizations) {
    for (const int64_t count : {1, 2, 7, 16, 49, 1000}) {
      for (const double scale : {0.003, 0.05, 0.4}) {
        const auto numbers = random_int8(8 * count, random);
        const Tensor x = quantized_tensor(DType::i8, {8, count}, numbers, kInput);
        const auto y = values_of<int8_t>(
            run_op("quantized_mean", over({1}, how, scale), {x}, Kernel::fast)[0]);
        const double factor =
            static_cast<double>(kInput.scales[0]) / static_cast<double>(static_cast<float>(scale));
        for (size_t row = 0; row < 8; ++row) {
          int64_t sum = 0;
          for (int64_t i = 0; i < count; ++i) {
            sum += numbers[row * static_cast<size_t>(count) + static_cast<size_t>(i)] + 11;
          }
          if (how == Requantization::floating) {
            ASSERT_EQ(y[row], oracle_requantize(sum, factor / static_cast<double>(count), 5, how));
            continue;
          }
          // Rounded twice, to a half at least and then to a whole number; the goldens of LiteRT
          // have the bits.
          const double mean = static_cast<double>(sum) * factor / static_cast<double>(count);
          const double wanted = std::clamp(mean + 5.0, -128.0, 127.0);
          ASSERT_NEAR(static_cast<double>(y[row]), wanted, 0.76) << count << " " << scale;
        }
      }
    }
  }
}

}  // namespace thimble::test::quantized_mean_test
