#include <gmock/gmock.h>

#include <algorithm>

#include "data/digit_styles.h"
#include "data/image_sets.h"

namespace thimble::data::digits_test {
namespace {

using namespace testing;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Lt;

TEST(digits, have_the_fields_of_mnist) {
  const Dataset set = digits(20, 1);
  EXPECT_EQ(set.size(), 20);
  EXPECT_EQ(set.fields()[0], (Field{"image", {28, 28, 1}, DType::f32, false}));
  EXPECT_EQ(set.fields()[1], (Field{"digit", {}, DType::i32, true}));
  EXPECT_EQ(set.bytes(), 20 * 785);
}

TEST(digits, are_the_same_bytes_on_every_platform) {
  // Compilers, optimization levels and vector units may not change a pixel. A deliberate change of
  // the drawing changes these sums, and every recorded training figure with them.
  EXPECT_EQ(checksum(digits(200, 1, Split::train)), 3845614196u);
  EXPECT_EQ(checksum(digits(200, 1, Split::test)), 1991308484u);
}

TEST(digits, depend_on_seed_split_and_index_alone) {
  expect_depends_on_seed_split_and_index(
      [](int64_t count, uint64_t seed, Split split) { return digits(count, seed, split); });
}

TEST(digits, hold_every_class_equally_in_drawn_order) {
  const Dataset set = digits(1000, 3);
  EXPECT_THAT(histogram_of(set), Each(100));
  std::vector<int> at_first_place(10);
  for (int64_t i = 0; i < set.size(); i += 10) {
    ++at_first_place.at(static_cast<size_t>(sample_of(set, i).label));
  }
  EXPECT_THAT(at_first_place, Each(Lt(30))) << "the order is not drawn";
}

TEST(digits, are_ink_on_clean_ground_inside_the_image) {
  const Dataset set = digits(2000, 5);
  double sum = 0;
  for (int64_t i = 0; i < set.size(); ++i) {
    const Sample sample = sample_of(set, i);
    const auto inked = std::count_if(sample.features.begin(), sample.features.end(),
                                     [](float value) { return value > 0.5f; });
    EXPECT_GE(inked, 12) << "nearly empty image " << i;
    EXPECT_LE(inked, 784 / 2) << "nearly full image " << i;
    float border = 0;
    for (size_t k = 0; k < 28; ++k) {
      border += sample.features[k] + sample.features[27 * 28 + k] + sample.features[28 * k] +
                sample.features[28 * k + 27];
    }
    EXPECT_LT(border, 12) << "image " << i << " runs over the edge";
    for (const float value : sample.features) sum += value;
  }
  // MNIST's mean is 0.13.
  EXPECT_NEAR(sum / (2000.0 * 784), 0.12, 0.03);
}

// Fails for a generator whose classes cannot be distinguished, or are all one picture: the mean
// image of a class must recognize most of its digits, but not all.
TEST(digits, classes_are_distinct_but_varied) {
  const double right = recognized_by_mean_images(digits(2000, 1), digits(1000, 1, Split::test));
  // On MNIST this classifier gets 82 % right.
  EXPECT_GT(right, 0.7);
  EXPECT_LT(right, 0.95);
}

TEST(digits, strokes_fit_the_pen) {
  for (int digit = 0; digit < 10; ++digit) {
    EXPECT_GE(styles_of(digit).size(), 2u) << digit;
    for (const Style& style : styles_of(digit)) {
      EXPECT_FALSE(style.strokes[0].empty()) << digit;
      for (const std::span<const Knot> stroke : style.strokes) {
        EXPECT_NE(stroke.size(), 1u) << digit;
        EXPECT_LE(stroke.size(), static_cast<size_t>(kMaxKnots)) << digit;
      }
    }
  }
}

TEST(digits, refuse_an_impossible_count) {
  EXPECT_THAT(error_of([] { (void)digits(0, 1); }), HasSubstr("count is 0"));
  EXPECT_THAT(error_of([] { (void)digits(INT64_MAX, 1); }), HasSubstr("count is 9223"));
}

}  // namespace
}  // namespace thimble::data::digits_test
