// Ranges of activations, and the scales they get.
#pragma once

#include <thimble/quantize.h>

#include <cstdint>
#include <span>
#include <vector>

namespace thimble::quantizing {

struct Range {
  double low = 0.0;
  double high = 0.0;
};

// The least range that holds the range and all values. NaN stays out.
[[nodiscard]] Range joined(Range range, std::span<const float> values);

// Counts of values in equal bins of a range.
class Histogram {
 public:
  static constexpr int64_t kBins = 2048;

  explicit Histogram(Range range) : range_(range), counts_(kBins, 0) {}
  void add(std::span<const float> values);

  [[nodiscard]] Range range() const { return range_; }
  [[nodiscard]] int64_t total() const { return total_; }
  // The range without the first and last bins whose values are at most (100 - percent) / 2 percent
  // of all on either side.
  [[nodiscard]] Range percentile(double percent) const;
  // Of the ranges [a * low, b * high], a and b in steps of 1/40, that whose int8 numbers have the
  // least mean square error. Values count as the middles of their bins.
  [[nodiscard]] Range least_error() const;

 private:
  [[nodiscard]] double width() const {
    return (range_.high - range_.low) / static_cast<double>(kBins);
  }
  [[nodiscard]] double error(const Range& range) const;

  Range range_;
  std::vector<int64_t> counts_;
  int64_t total_ = 0;
};

// Scale and zero point by which int8 covers a range and 0.
struct ActivationScale {
  float scale = 1.0F;
  int32_t zero_point = 0;
};
[[nodiscard]] ActivationScale scale_of(Range range);
// The same with an even zero point: a half then has the same even neighbour with and without it.
[[nodiscard]] ActivationScale even_scale_of(Range range);

}  // namespace thimble::quantizing
