// Scores of generated images by a classifier's logits.
#include <gtest/gtest.h>
#include <thimble/error.h>

#include <cmath>
#include <limits>

#include "train/inception_score.h"
#include "train/recognition.h"

namespace thimble::train {
namespace {

// Logits of one image: `margin` for its class, 0 for the other two.
std::vector<float> logits(const std::vector<std::pair<size_t, float>>& images) {
  std::vector<float> all;
  for (const auto& [kind, margin] : images) {
    std::vector<float> one(3, 0.0F);
    one[kind] = margin;
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

TEST(recognition, counts_the_images_whose_class_is_sure) {
  // e^m / (e^m + 2) is 0.95 for m = log(38).
  const float sure = std::log(38.0F) + 1e-3F;
  const float doubtful = std::log(38.0F) - 1e-3F;
  const Recognition result =
      recognition(logits({{0, sure}, {1, doubtful}, {2, 9.0F}, {0, 0.0F}}), 3);
  EXPECT_EQ(result.images, 4);
  EXPECT_EQ(result.recognised, 2);
}

TEST(recognition, counts_kinds_by_the_entropy_of_the_recognised) {
  EXPECT_DOUBLE_EQ(recognition(logits({{1, 9.0F}, {1, 9.0F}}), 3).kinds, 1.0);
  EXPECT_NEAR(recognition(logits({{0, 9.0F}, {1, 9.0F}, {2, 9.0F}, {2, 1.0F}}), 3).kinds, 3.0,
              1e-12);
  // Shares 3/4 and 1/4.
  const double expected = std::exp(-0.75 * std::log(0.75) - 0.25 * std::log(0.25));
  EXPECT_NEAR(recognition(logits({{0, 9.0F}, {0, 9.0F}, {0, 9.0F}, {1, 9.0F}}), 3).kinds, expected,
              1e-12);
}

TEST(recognition, recognises_no_image_without_numbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Recognition result = recognition(std::vector<float>{nan, nan, nan, 0.0F, 0.0F, 0.0F}, 3);
  EXPECT_EQ(result.images, 2);
  EXPECT_EQ(result.recognised, 0);
  EXPECT_EQ(result.kinds, 0.0);
}

TEST(recognition, refuses_what_are_no_images) {
  EXPECT_THROW(static_cast<void>(recognition({}, 3)), Error);
  EXPECT_THROW(static_cast<void>(recognition(std::vector<float>(4), 3)), Error);
  EXPECT_THROW(static_cast<void>(recognition(std::vector<float>(4), 0)), Error);
}

TEST(inception_score, is_the_number_of_classes_for_sure_and_even_images) {
  EXPECT_NEAR(inception_score(logits({{0, 60.0F}, {1, 60.0F}, {2, 60.0F}}), 3), 3.0, 1e-9);
  EXPECT_NEAR(inception_score(logits({{1, 60.0F}, {1, 60.0F}}), 3), 1.0, 1e-9);
  EXPECT_NEAR(inception_score(logits({{1, 0.0F}, {2, 0.0F}}), 3), 1.0, 1e-12);
  EXPECT_THROW(static_cast<void>(inception_score({}, 3)), Error);
}

}  // namespace
}  // namespace thimble::train
