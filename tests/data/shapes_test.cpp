#include <gmock/gmock.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>

#include "data/test_files.h"

namespace thimble::data {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST(shapes, are_colour_images_of_any_size_made_on_demand) {
  const Dataset set = shapes(20, 1, Split::train, 48);
  EXPECT_EQ(set.size(), 20);
  EXPECT_EQ(set.fields()[0], (Field{"image", {48, 48, 3}, DType::f32, false}));
  EXPECT_EQ(set.fields()[1], (Field{"label", {}, DType::i32, true}));
  EXPECT_EQ(set.bytes(), 0);
  EXPECT_EQ(shapes(1, 1).fields()[0].shape, Shape({32, 32, 3}));
}

// A checksum over the labels and the images as bytes.
uint32_t checksum(const Dataset& set) {
  uLong sum = crc32(0, nullptr, 0);
  for (int64_t i = 0; i < set.size(); ++i) {
    const Sample sample = sample_of(set, i);
    std::vector<Bytef> bytes = {static_cast<Bytef>(sample.label)};
    for (const float value : sample.features) {
      bytes.push_back(static_cast<Bytef>(std::lround(value * 255)));
    }
    sum = crc32(sum, bytes.data(), static_cast<uInt>(bytes.size()));
  }
  return static_cast<uint32_t>(sum);
}

TEST(shapes, are_the_same_bytes_on_every_platform) {
  // Compilers, optimization levels and vector units may not change a pixel. A deliberate change of
  // the painting changes these sums, and every recorded training figure with them.
  EXPECT_EQ(checksum(shapes(200, 1, Split::train)), 4269154454u);
  EXPECT_EQ(checksum(shapes(20, 1, Split::test, 96)), 608093192u);
}

TEST(shapes, depend_on_seed_split_index_and_size_alone) {
  const Dataset many = shapes(100, 7);
  const Dataset few = shapes(30, 7);
  const Dataset other_seed = shapes(30, 8);
  const Dataset test = shapes(30, 7, Split::test);
  for (int64_t i = 0; i < 30; ++i) {
    EXPECT_EQ(sample_of(many, i).features, sample_of(few, i).features);
    EXPECT_EQ(sample_of(many, i).label, sample_of(few, i).label);
    EXPECT_NE(sample_of(many, i).features, sample_of(other_seed, i).features);
    EXPECT_NE(sample_of(many, i).features, sample_of(test, i).features);
  }
}

TEST(shapes, hold_every_class_equally) {
  const Dataset set = shapes(500, 3, Split::train, 16);
  std::vector<int> histogram(10);
  for (int64_t i = 0; i < set.size(); ++i) {
    ++histogram.at(static_cast<size_t>(sample_of(set, i).label));
  }
  for (const int count : histogram) EXPECT_EQ(count, 50);
}

TEST(shapes, are_whole_bytes_of_every_brightness) {
  const Dataset set = shapes(300, 5);
  double sum = 0;
  float low = 1;
  float high = 0;
  for (int64_t i = 0; i < set.size(); ++i) {
    for (const float value : sample_of(set, i).features) {
      ASSERT_EQ(value, static_cast<float>(std::lround(value * 255)) / 255.0F);
      low = std::min(low, value);
      high = std::max(high, value);
      sum += value;
    }
  }
  EXPECT_EQ(low, 0);
  EXPECT_EQ(high, 1);
  EXPECT_NEAR(sum / (300.0 * 3072), 0.45, 0.1);
}

// The classes must not show in the mean image or the mean colour: that needs no network.
TEST(shapes, cannot_be_told_apart_by_mean_images) {
  const Dataset train = shapes(2000, 1);
  std::vector<std::vector<double>> mean(10, std::vector<double>(3072));
  for (int64_t i = 0; i < train.size(); ++i) {
    const Sample sample = sample_of(train, i);
    for (size_t k = 0; k < 3072; ++k) {
      mean[static_cast<size_t>(sample.label)][k] += sample.features[k] / 200.0;
    }
  }
  const Dataset test = shapes(500, 1, Split::test);
  int right = 0;
  for (int64_t i = 0; i < test.size(); ++i) {
    const Sample sample = sample_of(test, i);
    std::vector<double> distance(10);
    for (size_t c = 0; c < 10; ++c) {
      for (size_t k = 0; k < 3072; ++k) {
        const double difference = mean[c][k] - sample.features[k];
        distance[c] += difference * difference;
      }
    }
    const auto nearest = std::min_element(distance.begin(), distance.end()) - distance.begin();
    right += nearest == sample.label;
  }
  EXPECT_LT(right, 100);
}

TEST(shapes, refuse_impossible_sizes) {
  EXPECT_THAT(error_of([] { (void)shapes(0, 1); }), HasSubstr("count is 0"));
  EXPECT_THAT(error_of([] { (void)shapes(1, 1, Split::train, 15); }), HasSubstr("side is 15"));
  EXPECT_THAT(error_of([] { (void)shapes(1, 1, Split::train, 5000); }), HasSubstr("side is 5000"));
}

}  // namespace
}  // namespace thimble::data
