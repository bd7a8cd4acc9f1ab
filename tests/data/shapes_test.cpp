#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "data/image_sets.h"

namespace thimble::data::shapes_test {
namespace {

using namespace testing;
using ::testing::Each;
using ::testing::HasSubstr;

TEST(shapes, are_colour_images_of_any_size_made_on_demand) {
  const Dataset set = shapes(20, 1, Split::train, 48);
  EXPECT_EQ(set.size(), 20);
  EXPECT_EQ(set.fields()[0], (Field{"image", {48, 48, 3}, DType::f32, false}));
  EXPECT_EQ(set.fields()[1], (Field{"label", {}, DType::i32, true}));
  EXPECT_EQ(set.bytes(), 0);
  EXPECT_EQ(shapes(1, 1).fields()[0].shape, Shape({32, 32, 3}));
}

TEST(shapes, are_the_same_bytes_on_every_platform) {
  // Compilers, optimization levels and vector units may not change a pixel. A deliberate change of
  // the painting changes these sums, and every recorded training figure with them.
  EXPECT_EQ(checksum(shapes(200, 1, Split::train)), 4269154454u);
  EXPECT_EQ(checksum(shapes(20, 1, Split::test, 96)), 608093192u);
}

TEST(shapes, depend_on_seed_split_and_index_alone) {
  expect_depends_on_seed_split_and_index(
      [](int64_t count, uint64_t seed, Split split) { return shapes(count, seed, split); });
}

TEST(shapes, hold_every_class_equally) {
  EXPECT_THAT(histogram_of(shapes(500, 3, Split::train, 16)), Each(50));
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

// The classes must not be visible in the mean image or the mean colour, because then no network
// would be needed.
TEST(shapes, cannot_be_told_apart_by_mean_images) {
  const double right = recognized_by_mean_images(shapes(2000, 1), shapes(500, 1, Split::test));
  EXPECT_LT(right, 0.2);
}

TEST(shapes, refuse_impossible_sizes) {
  EXPECT_THAT(error_of([] { (void)shapes(0, 1); }), HasSubstr("count is 0"));
  EXPECT_THAT(error_of([] { (void)shapes(1, 1, Split::train, 15); }), HasSubstr("side is 15"));
  EXPECT_THAT(error_of([] { (void)shapes(1, 1, Split::train, 5000); }), HasSubstr("side is 5000"));
}

}  // namespace
}  // namespace thimble::data::shapes_test
