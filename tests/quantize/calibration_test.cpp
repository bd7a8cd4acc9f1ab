// Ranges from values, scales from ranges, and integers from weights.
#include "quantize/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "quantize/weights.h"

namespace thimble::test::calibration_test {
namespace {

using quantizing::ActivationScale;
using quantizing::Histogram;
using quantizing::joined;
using quantizing::Range;
using quantizing::scale_of;

std::vector<float> normal(int64_t count, std::mt19937& random) {
  std::normal_distribution<float> draw(0.3F, 1.0F);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = draw(random);
  return values;
}

Histogram histogram_of(const std::vector<float>& values) {
  Histogram made(joined({}, values));
  made.add(values);
  return made;
}

double mean_square_error(const std::vector<float>& values, const Range& range) {
  const ActivationScale chosen = scale_of(range);
  double sum = 0.0;
  for (const float value : values) {
    double integer = std::nearbyint(static_cast<double>(value) / static_cast<double>(chosen.scale));
    integer = std::clamp(integer + chosen.zero_point, -128.0, 127.0) - chosen.zero_point;
    const double miss = static_cast<double>(value) - static_cast<double>(chosen.scale) * integer;
    sum += miss * miss;
  }
  return sum / static_cast<double>(values.size());
}

struct ScaleCase {
  Range range;
  double scale;
  int32_t zero_point;
};

TEST(calibration, scales_cover_the_range_and_zero) {
  const ScaleCase cases[] = {
      {{0.0, 6.0}, 6.0 / 255.0, -128},
      {{-6.0, 0.0}, 6.0 / 255.0, 127},
      {{-2.0, 1.0}, 3.0 / 255.0, 42},
      {{-1.0, 4.0}, 5.0 / 255.0, -77},
      {{2.0, 5.0}, 5.0 / 255.0, -128},
      {{-3.0, -1.0}, 3.0 / 255.0, 127},
      {{0.0, 0.0}, 1.0, 0},
      {{-1e-20, 1e-20}, 1.0, 0},
  };
  for (const ScaleCase& c : cases) {
    const ActivationScale made = scale_of(c.range);
    EXPECT_EQ(made.scale, static_cast<float>(c.scale)) << c.range.low << " " << c.range.high;
    EXPECT_EQ(made.zero_point, c.zero_point) << c.range.low << " " << c.range.high;
  }
}

TEST(calibration, even_zero_points_cover_the_range_as_well) {
  std::mt19937 random(6);
  std::uniform_real_distribution<double> draw(-3.0, 3.0);
  for (int i = 0; i < 1000; ++i) {
    const double a = draw(random);
    const double b = i % 5 == 0 ? 0.0 : i % 7 == 0 ? a * 1e-3 : draw(random);
    const Range range{std::min(a, b), std::max(a, b)};
    const ActivationScale plain = scale_of(range);
    const ActivationScale made = quantizing::even_scale_of(range);
    ASSERT_EQ(made.zero_point % 2, 0);
    ASSERT_LE(std::abs(made.zero_point - plain.zero_point), 1);
    if (plain.zero_point % 2 == 0) {
      ASSERT_EQ(made.scale, plain.scale);
    }
    const auto scale = static_cast<double>(made.scale);
    // Rounding the zero point moves the range by half a step.
    ASSERT_GE(scale * (127.5 - made.zero_point), range.high * (1.0 - 1e-6)) << range.low;
    ASSERT_LE(scale * (-128.5 - made.zero_point), range.low * (1.0 - 1e-6)) << range.high;
  }
}

TEST(calibration, few_bits_are_spent_on_small_weights) {
  const std::vector<float> weight{0.1F, -0.1F, 0.1F, 4.0F};
  const auto walk = quantizing::walk_of({1, 4}, 0);
  EXPECT_EQ(quantizing::weight_scales(weight, walk, {}, 1.0F, 8)[0],
            static_cast<float>(4.0 / 127.0));
  // 2 mean(|w|) / sqrt(3) is less than 4 / 3.
  EXPECT_FLOAT_EQ(quantizing::weight_scales(weight, walk, {}, 1.0F, 3)[0],
                  static_cast<float>(2.0 * 4.3 / 4.0 / std::sqrt(3.0)));
}

TEST(calibration, minmax_is_the_range_of_all_batches_and_zero) {
  Range range = joined({}, std::vector<float>{1.0F, 3.0F});
  EXPECT_EQ(range.low, 0.0);
  EXPECT_EQ(range.high, 3.0);
  range = joined(range, std::vector<float>{-2.5F, 0.0F});
  EXPECT_EQ(range.low, -2.5);
  EXPECT_EQ(range.high, 3.0);
}

// The oracle sorts the values: the bin of the histogram holds the right one.
TEST(calibration, percentile_leaves_out_the_same_share_at_both_ends) {
  std::mt19937 random(3);
  const std::vector<float> values = normal(20000, random);
  std::vector<float> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const Histogram histogram = histogram_of(values);
  const double bin =
      (histogram.range().high - histogram.range().low) / static_cast<double>(Histogram::kBins);
  for (const double percent : {90.0, 99.0, 99.9}) {
    const auto left_out = static_cast<size_t>(20000.0 * (100.0 - percent) / 200.0);
    const Range range = histogram.percentile(percent);
    EXPECT_NEAR(range.low, static_cast<double>(sorted[left_out]), bin) << percent;
    EXPECT_NEAR(range.high, static_cast<double>(sorted[sorted.size() - 1 - left_out]), bin)
        << percent;
  }
  const Range all = histogram.percentile(100.0);
  EXPECT_DOUBLE_EQ(all.low, histogram.range().low);
  EXPECT_NEAR(all.high, histogram.range().high, 1e-9);
}

TEST(calibration, percentile_of_relu_begins_at_zero) {
  std::mt19937 random(4);
  std::vector<float> values = normal(5000, random);
  for (float& value : values) value = std::max(value, 0.0F);
  EXPECT_EQ(histogram_of(values).percentile(99.0).low, 0.0);
}

// The oracle tries the same ranges on the values themselves.
TEST(calibration, mse_finds_the_range_of_least_error) {
  std::mt19937 random(5);
  std::vector<float> values = normal(400000, random);
  values.push_back(8.3F);  // far from all others
  const Histogram histogram = histogram_of(values);
  const Range found = histogram.least_error();
  double least = mean_square_error(values, histogram.range());
  const double of_minmax = least;
  for (int i = 4; i <= 40; i += 4) {
    for (int j = 4; j <= 40; j += 4) {
      const Range tried{histogram.range().low * i / 40.0, histogram.range().high * j / 40.0};
      least = std::min(least, mean_square_error(values, tried));
    }
  }
  // Bins are an eighth of a step of int8 wide: their middles have a little more error.
  EXPECT_LT(mean_square_error(values, found), 1.05 * least);
  EXPECT_LT(mean_square_error(values, found), 0.9 * of_minmax);
}

TEST(calibration, mse_keeps_evenly_spread_values_whole) {
  std::vector<float> values;
  for (int i = 0; i <= 10000; ++i) values.push_back(static_cast<float>(i) / 5000.0F);
  const Range found = histogram_of(values).least_error();
  EXPECT_EQ(found.low, 0.0);
  EXPECT_NEAR(found.high, 2.0, 0.06);
}

TEST(calibration, of_constant_values_is_no_division_by_zero) {
  const Histogram histogram = histogram_of(std::vector<float>(10, 0.0F));
  EXPECT_EQ(histogram.percentile(99.0).high, 0.0);
  EXPECT_EQ(histogram.least_error().high, 0.0);
}

TEST(calibration, weights_have_a_scale_for_each_channel) {
  // Channels along axis 0: {1, -2}, {0, 0}, {0.5, 0.25}.
  const auto made = quantizing::quantized_weights({1.0F, -2.0F, 0.0F, 0.0F, 0.5F, 0.25F}, {3, 2}, 0,
                                                  {0.31F, -0.4F, 0.0F}, 0.1F);
  EXPECT_EQ(made.weight, (std::vector<int8_t>{64, -127, 0, 0, 127, 64}));  // 63.5 to even
  EXPECT_EQ(made.scales[0], static_cast<float>(2.0 / 127.0));
  EXPECT_EQ(made.scales[2], static_cast<float>(0.5 / 127.0));
  EXPECT_EQ(made.bias[0], static_cast<int32_t>(std::nearbyint(0.31 / (0.1 * 2.0 / 127.0))));
  EXPECT_EQ(made.bias[2], 0);
  // The channel without weights has a scale by which its bias fits.
  const double bias = static_cast<double>(made.bias[1]) * 0.1 * static_cast<double>(made.scales[1]);
  EXPECT_NEAR(bias, -0.4, 1e-6);
}

TEST(calibration, weights_have_their_channels_along_any_axis) {
  const auto made = quantizing::quantized_weights({1.0F, 10.0F, -0.5F, 20.0F}, {2, 2}, 1, {}, 1.0F);
  EXPECT_EQ(made.scales, (std::vector<float>{static_cast<float>(1.0 / 127.0),
                                             static_cast<float>(20.0 / 127.0)}));
  EXPECT_EQ(made.weight, (std::vector<int8_t>{127, 64, -64, 127}));
  EXPECT_TRUE(made.bias.empty());
}

// A bias far above the weights must not overflow int32.
TEST(calibration, a_large_bias_makes_the_scale_of_its_channel_larger) {
  const auto made = quantizing::quantized_weights({1e-6F}, {1, 1}, 0, {1e6F}, 1e-3F);
  const double unit = 1e-3 * static_cast<double>(made.scales[0]);
  EXPECT_NEAR(static_cast<double>(made.bias[0]) * unit / 1e6, 1.0, 1e-6);
}

}  // namespace
}  // namespace thimble::test::calibration_test
