// How many generated images a classifier is sure of, and of how many kinds they are.
#pragma once

#include <cstdint>
#include <span>

namespace thimble::train {

// An image counts as recognised from this probability of its likeliest class on. A classifier of
// digits is as sure of nearly all real ones, and of few that people call doubtful.
inline constexpr double kRecognised = 0.95;

struct Recognition {
  int64_t images = 0;
  int64_t recognised = 0;
  // exp of the entropy of the recognised images' classes: 1 where all are alike, the number of
  // classes where all are equally frequent; 0 where none is recognised.
  double kinds = 0.0;
};

// logits: [images, classes]. Throws Error where there is no image or the sizes do not fit.
[[nodiscard]] Recognition recognition(std::span<const float> logits, int64_t classes);

}  // namespace thimble::train
