// Scores of generated images by a classifier's logits.
#include <gtest/gtest.h>
#include <thimble/error.h>

#include <cmath>
#include <limits>

#include "data/random.h"
#include "eval/inception_score.h"
#include "eval/recognition.h"

namespace thimble::eval::recognition_test {
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

// Every image of one pixel is near.
const Neighbourhood& everything() {
  static const Neighbourhood all({0.0F, 1.0F}, std::vector<float>{0.0F, 0.5F}, 1);
  return all;
}

Recognition recognised(const std::vector<std::pair<size_t, float>>& images) {
  const std::vector<float> pixels(images.size(), 1.0F);
  return recognition(pixels, logits(images), 3, everything());
}

TEST(recognition, counts_the_images_whose_class_is_sure) {
  // e^m / (e^m + 2) is 0.9 for m = log(18).
  const float sure = std::log(18.0F) + 1e-3F;
  const float doubtful = std::log(18.0F) - 1e-3F;
  const Recognition result = recognised({{0, sure}, {1, doubtful}, {2, 9.0F}, {0, 0.0F}});
  EXPECT_EQ(result.images, 4);
  EXPECT_EQ(result.recognised, 2);
}

TEST(recognition, counts_images_of_the_class_that_was_asked_for_alone) {
  const std::vector<float> pixels(4, 1.0F);
  const std::vector<float> values = logits({{0, 9.0F}, {1, 9.0F}, {2, 9.0F}, {1, 9.0F}});
  const auto run = [&](const std::vector<int64_t>& asked) {
    return recognition(pixels, values, 3, everything(), asked);
  };
  const Recognition two = run({0, 2, 2, 0});
  EXPECT_EQ(two.images, 4);
  EXPECT_EQ(two.recognised, 2);
  EXPECT_NEAR(two.kinds, 2.0, 1e-12);
  EXPECT_EQ(run({0, 1, 2, 1}).recognised, 4);
  EXPECT_EQ(run({}).recognised, 4);
  EXPECT_THROW(static_cast<void>(run({0, 1})), Error);
}

TEST(recognition, counts_kinds_by_the_entropy_of_the_recognised) {
  EXPECT_DOUBLE_EQ(recognised({{1, 9.0F}, {1, 9.0F}}).kinds, 1.0);
  EXPECT_NEAR(recognised({{0, 9.0F}, {1, 9.0F}, {2, 9.0F}, {2, 1.0F}}).kinds, 3.0, 1e-12);
  // Shares 3/4 and 1/4.
  const double expected = std::exp(-0.75 * std::log(0.75) - 0.25 * std::log(0.25));
  EXPECT_NEAR(recognised({{0, 9.0F}, {0, 9.0F}, {0, 9.0F}, {1, 9.0F}}).kinds, expected, 1e-12);
}

// Test images at distances 0, 1, ..., 99 from the one training image: 98 is the limit.
TEST(recognition, counts_images_as_near_to_training_images_as_real_ones_are) {
  std::vector<float> real;
  for (int i = 0; i < 100; ++i) real.insert(real.end(), {static_cast<float>(i), 0.0F});
  const Neighbourhood near({0.0F, 0.0F}, real, 2);
  EXPECT_TRUE(near.holds(std::vector<float>{0.0F, 98.0F}));
  EXPECT_FALSE(near.holds(std::vector<float>{0.0F, 98.1F}));
  const std::vector<float> images{98.0F, 0.0F, 60.0F, 80.0F};
  EXPECT_EQ(recognition(images, logits({{0, 9.0F}, {0, 9.0F}}), 3, near).recognised, 1);
}

TEST(recognition, recognises_no_noise_though_the_classifier_be_sure) {
  const data::Dataset train = data::digits(300, 1);
  const data::Dataset test = data::digits(100, 1, data::Split::test);
  const std::vector<float> real = first_images(test, 100);
  const Neighbourhood near(first_images(train, 300), real, 28 * 28);
  std::vector<float> noise(size_t{10} * 28 * 28);
  for (size_t i = 0; i < noise.size(); ++i) {
    noise[i] = static_cast<float>(data::scatter(i) >> 40) * 0x1p-24F;
  }
  const std::vector<float> sure = logits(std::vector<std::pair<size_t, float>>(10, {1, 50.0F}));
  EXPECT_EQ(recognition(noise, sure, 3, near).recognised, 0);
  const std::span<const float> ten = std::span(real).first(noise.size());
  EXPECT_GE(recognition(ten, sure, 3, near).recognised, 9);
}

TEST(recognition, recognises_no_image_without_numbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> images{0.0F, nan};
  const std::vector<float> values{nan, nan, nan, 9.0F, 0.0F, 0.0F};
  const Recognition result = recognition(images, values, 3, everything());
  EXPECT_EQ(result.images, 2);
  EXPECT_EQ(result.recognised, 0);
  EXPECT_EQ(result.kinds, 0.0);
}

TEST(recognition, refuses_what_are_no_images) {
  const std::vector<float> three(3);
  const auto run = [](const std::vector<float>& images, const std::vector<float>& values,
                      int64_t classes) {
    static_cast<void>(recognition(images, values, classes, everything()));
  };
  EXPECT_THROW(run({}, {}, 3), Error);
  EXPECT_THROW(run(three, std::vector<float>(4), 3), Error);
  EXPECT_THROW(run(three, std::vector<float>(4), 0), Error);
  EXPECT_THROW(run(three, std::vector<float>(6), 3), Error);
}

TEST(inception_score, is_the_number_of_classes_for_sure_and_even_images) {
  EXPECT_NEAR(inception_score(logits({{0, 60.0F}, {1, 60.0F}, {2, 60.0F}}), 3), 3.0, 1e-9);
  EXPECT_NEAR(inception_score(logits({{1, 60.0F}, {1, 60.0F}}), 3), 1.0, 1e-9);
  EXPECT_NEAR(inception_score(logits({{1, 0.0F}, {2, 0.0F}}), 3), 1.0, 1e-12);
  EXPECT_THROW(static_cast<void>(inception_score({}, 3)), Error);
}

}  // namespace
}  // namespace thimble::eval::recognition_test
