#include "data/open/resample.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace thimble::data {
namespace {

constexpr double kZeroCrossings = 6;  // of the sinc, on each side
constexpr double kRolloff = 0.99;     // of half the lower rate

int64_t floor_divide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

}  // namespace

Resampler::Resampler(int64_t from, int64_t to) {
  constexpr int64_t kMostWeights = int64_t{1} << 22;
  const int64_t common = std::gcd(from, to);
  from_ = from / common;
  to_ = to / common;
  const double cutoff = kRolloff * static_cast<double>(std::min(from_, to_));
  half_width_ =
      static_cast<int64_t>(std::ceil(kZeroCrossings * static_cast<double>(from_) / cutoff));
  taps_ = 2 * half_width_ + 2;
  if (to_ > kMostWeights / taps_) {
    throw Error("sample rate",
                fmt::format("{} Hz cannot be resampled to {} Hz: choose rates with a "
                            "larger common divisor",
                            from, to));
  }
  weights_.resize(static_cast<size_t>(to_ * taps_));
  for (int64_t phase = 0; phase < to_; ++phase) {
    // The output stands phase / to after an input; in units of the input's distance:
    const double middle = static_cast<double>(phase * from_ % to_) / static_cast<double>(to_);
    for (int64_t tap = 0; tap < taps_; ++tap) {
      const double distance = static_cast<double>(tap - half_width_) - middle;
      const double t = std::clamp(distance * cutoff / static_cast<double>(from_), -kZeroCrossings,
                                  kZeroCrossings);
      const double window = std::cos(t * std::numbers::pi / kZeroCrossings / 2);
      const double angle = t * std::numbers::pi;
      const double sinc = angle == 0 ? 1.0 : std::sin(angle) / angle;
      weights_[static_cast<size_t>(phase * taps_ + tap)] =
          static_cast<float>(sinc * window * window * cutoff / static_cast<double>(from_));
    }
  }
}

int64_t Resampler::first_input(int64_t first) const {
  return floor_divide(first * from_, to_) - half_width_;
}

int64_t Resampler::end_input(int64_t first, int64_t count) const {
  return first_input(first + count - 1) + taps_;
}

int64_t Resampler::length(int64_t frames) const {
  return static_cast<int64_t>(std::ceil(static_cast<double>(frames) * static_cast<double>(to_) /
                                        static_cast<double>(from_)));
}

void Resampler::run(std::span<const float> input, int64_t first, std::span<float> to) const {
  const int64_t begin = first_input(first);
  for (size_t i = 0; i < to.size(); ++i) {
    const int64_t output = first + static_cast<int64_t>(i);
    const float* const weights = weights_.data() + output % to_ * taps_;
    const float* const from = input.data() + (first_input(output) - begin);
    double sum = 0;
    for (int64_t tap = 0; tap < taps_; ++tap) sum += double{weights[tap]} * from[tap];
    to[i] = static_cast<float>(sum);
  }
}

}  // namespace thimble::data
