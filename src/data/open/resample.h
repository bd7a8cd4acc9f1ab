// Sound at another sample rate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace thimble::data {

// A band-limited filter between two rates: a sinc, windowed by a squared cosine, whose cutoff lies
// below half of the lower rate (torchaudio's resample with its default settings; J. O. Smith,
// "Digital Audio Resampling", 2002). Output sample j stands at the time j / to.
class Resampler {
 public:
  // Rates in Hz. Throws Error where they have so little in common that the filter would have more
  // than 2^22 weights.
  Resampler(int64_t from, int64_t to);

  // Input samples that output samples first to first + count - 1 depend on: may reach before 0 and
  // past the end, where there is silence.
  [[nodiscard]] int64_t first_input(int64_t first) const;
  [[nodiscard]] int64_t end_input(int64_t first, int64_t count) const;
  // Samples at the new rate of so many at the old one: all that stand before their end.
  [[nodiscard]] int64_t length(int64_t frames) const;

  // input: the samples first_input(first) to end_input(first, count) - 1. to: count samples.
  void run(std::span<const float> input, int64_t first, std::span<float> to) const;

 private:
  int64_t from_;  // both divided by what they have in common
  int64_t to_;
  int64_t half_width_;          // input samples on each side of a phase's middle
  int64_t taps_;                // weights of a phase
  std::vector<float> weights_;  // [to_, taps_]: a row for each phase
};

}  // namespace thimble::data
