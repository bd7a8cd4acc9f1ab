// Small value types that options of ops are made of.
#pragma once

#include <cstdint>

namespace thimble {

// A number for height and one for width: {2, 1}, or 2 for both.
struct Pair {
  int64_t h = 1;
  int64_t w = 1;
  Pair() = default;
  Pair(int64_t both) : h(both), w(both) {}  // NOLINT: implicit by design, .stride = 2
  Pair(int64_t height, int64_t width) : h(height), w(width) {}
  bool operator==(const Pair&) const = default;
};

// Zeros (or, for pooling, ignored cells) around an image: 1 for all sides, {1, 2} for height and
// width, {top, bottom, left, right}, or Padding::same() for ceil(size / stride) outputs, the odd
// cell below and to the right as in TensorFlow.
struct Padding {
  int64_t top = 0;
  int64_t bottom = 0;
  int64_t left = 0;
  int64_t right = 0;
  bool automatic = false;  // set by same(); the numbers are then found from the sizes
  Padding() = default;
  Padding(int64_t all) : top(all), bottom(all), left(all), right(all) {}  // NOLINT: implicit
  Padding(int64_t h, int64_t w) : top(h), bottom(h), left(w), right(w) {}
  Padding(int64_t t, int64_t b, int64_t l, int64_t r) : top(t), bottom(b), left(l), right(r) {}
  static Padding same() {
    Padding p;
    p.automatic = true;
    return p;
  }
  bool operator==(const Padding&) const = default;
};

// An activation that a matrix op can apply while it stores its result.
enum class Activation : uint8_t { none, relu, relu6 };

// How the terms of a loss are reduced: mean; sum; batch_mean, the sum divided by the size of axis 0
// (per image, say, summed over all pixels); none, which returns the terms.
enum class Reduction : uint8_t { mean, sum, batch_mean, none };

// Options of most losses.
struct LossOptions {
  Reduction reduction = Reduction::mean;
};

}  // namespace thimble
