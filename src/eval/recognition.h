// Measures how many generated images a classifier recognises, and how many classes they cover.
#pragma once

#include <thimble/data.h>

#include <cstdint>
#include <span>
#include <vector>

namespace thimble::eval {

// A classifier must give an image's most likely class at least this probability. This is not enough
// alone: classifiers are as sure of noise, which they never saw.
inline constexpr double kSure = 0.9;
// An image must also be as near to one of the training images, in the sum of squared differences of
// pixels, as this share of the real test images are.
inline constexpr double kNear = 0.99;

// The first field of the first `count` samples, of type f32, one after the other. Throws Error
// where it is of another type.
[[nodiscard]] std::vector<float> first_images(const data::Dataset& dataset, int64_t count);

// The training images to compare with, and the largest distance that counts as near.
class Neighbourhood {
 public:
  // train, real: [images, pixels], of a training set and a test set; neither empty.
  Neighbourhood(std::vector<float> train, std::span<const float> real, int64_t pixels);
  [[nodiscard]] bool holds(std::span<const float> image) const;

 private:
  // The smallest sum of squared differences; looks no further below `enough`.
  [[nodiscard]] float nearest(std::span<const float> image, float enough) const;

  std::vector<float> train_;
  int64_t pixels_;
  float limit_ = 0.0F;
};

struct Recognition {
  int64_t images = 0;
  int64_t recognised = 0;  // sure, near, and of the requested class, if any
  // exp of the entropy of the recognised images' classes: 1 where all are alike, the number of
  // classes where all are equally frequent; 0 where none is recognised.
  double kinds = 0.0;
};

// images: [count, pixels]; logits: [count, classes], of a classifier; asked: [count], the class
// that each image should be of, or empty: then any will do. Throws Error where there is no image or
// the sizes do not fit.
[[nodiscard]] Recognition recognition(std::span<const float> images, std::span<const float> logits,
                                      int64_t classes, const Neighbourhood& neighbourhood,
                                      std::span<const int64_t> asked = {});

}  // namespace thimble::eval
