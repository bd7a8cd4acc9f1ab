#include "quantize/calibration.h"

#include <algorithm>
#include <cmath>

namespace thimble::quantizing {
namespace {

constexpr double kSteps = 255.0;         // from -128 to 127
constexpr double kLeastRange = 0x1p-40;  // smaller ones count as nothing but zeros
constexpr int kFractions = 40;

}  // namespace

Range joined(Range range, std::span<const float> values) {
  for (const float value : values) {
    range.low = std::min(range.low, static_cast<double>(value));
    range.high = std::max(range.high, static_cast<double>(value));
  }
  return range;
}

void Histogram::add(std::span<const float> values) {
  const double bins = width() > 0.0 ? 1.0 / width() : 0.0;
  for (const float value : values) {
    const double at = (static_cast<double>(value) - range_.low) * bins;
    const auto bin = static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(kBins - 1)));
    ++counts_[static_cast<size_t>(bin)];
  }
  total_ += static_cast<int64_t>(values.size());
}

Range Histogram::percentile(double percent) const {
  const double most = static_cast<double>(total_) * (100.0 - percent) / 200.0;
  int64_t first = 0;
  int64_t last = kBins - 1;
  double left_out = 0.0;
  while (first < last) {
    left_out += static_cast<double>(counts_[static_cast<size_t>(first)]);
    if (left_out > most) break;
    ++first;
  }
  left_out = 0.0;
  while (last > first) {
    left_out += static_cast<double>(counts_[static_cast<size_t>(last)]);
    if (left_out > most) break;
    --last;
  }
  return {range_.low + width() * static_cast<double>(first),
          range_.low + width() * static_cast<double>(last + 1)};
}

double Histogram::error(const Range& range) const {
  const ActivationScale chosen = scale_of(range);
  const auto scale = static_cast<double>(chosen.scale);
  const double zero = chosen.zero_point;
  double sum = 0.0;
  for (int64_t bin = 0; bin < kBins; ++bin) {
    const int64_t count = counts_[static_cast<size_t>(bin)];
    if (count == 0) continue;
    const double value = range_.low + width() * (static_cast<double>(bin) + 0.5);
    const double integer = std::clamp(std::nearbyint(value / scale) + zero, -128.0, 127.0);
    const double miss = value - scale * (integer - zero);
    sum += static_cast<double>(count) * miss * miss;
  }
  return sum;
}

Range Histogram::least_error() const {
  Range best = range_;
  double least = error(best);
  for (int i = kFractions; i >= 1; --i) {
    for (int j = kFractions; j >= 1; --j) {
      const Range tried{range_.low * i / kFractions, range_.high * j / kFractions};
      const double of_tried = error(tried);
      if (of_tried < least) {
        least = of_tried;
        best = tried;
      }
      if (range_.high <= 0.0) break;
    }
    if (range_.low >= 0.0) break;
  }
  return best;
}

ActivationScale scale_of(Range range) {
  const double low = std::min(0.0, range.low);
  const double high = std::max(0.0, range.high);
  if (!(high - low > kLeastRange)) return {};
  const auto scale = static_cast<float>((high - low) / kSteps);
  const double zero = std::nearbyint(-128.0 - low / static_cast<double>(scale));
  return {scale, static_cast<int32_t>(std::clamp(zero, -128.0, 127.0))};
}

ActivationScale even_scale_of(Range range) {
  ActivationScale chosen = scale_of(range);
  if (chosen.zero_point % 2 == 0) return chosen;
  chosen.zero_point += chosen.zero_point == 127 ? -1 : 1;
  const double low = std::min(0.0, range.low);
  const double high = std::max(0.0, range.high);
  // The side that lost a step is still covered.
  const double least =
      std::max(high / (127.0 - chosen.zero_point), -low / (128.0 + chosen.zero_point));
  chosen.scale = std::max(chosen.scale, static_cast<float>(least));
  return chosen;
}

}  // namespace thimble::quantizing
