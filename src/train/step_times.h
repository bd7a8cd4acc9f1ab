// The median of any number of step times in a fixed amount of memory.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace thimble::train {

// Counts times in classes of equal ratio. Times outside 0.1 us to 16 min count as the limit.
class StepTimes {
 public:
  void add(double milliseconds) {
    const double octaves = std::log2(std::max(milliseconds, kLeast) / kLeast);
    const auto at = static_cast<size_t>(octaves * kPerOctave);
    ++counts_[std::min(at, counts_.size() - 1)];
    ++count_;
  }

  // The median in milliseconds, with an error of at most 0.3 %; 0 without times. For an even number
  // of times, the higher of the middle two.
  [[nodiscard]] double median() const {
    int64_t below = 0;
    for (size_t at = 0; at < counts_.size(); ++at) {
      below += counts_[at];
      if (below > count_ / 2) {
        return kLeast * std::exp2((static_cast<double>(at) + 0.5) / kPerOctave);
      }
    }
    return 0.0;
  }

 private:
  static constexpr double kLeast = 1e-4;
  static constexpr int kOctaves = 33;
  static constexpr int kPerOctave = 128;
  std::array<uint32_t, static_cast<size_t>(kOctaves* kPerOctave)> counts_{};
  int64_t count_ = 0;
};

}  // namespace thimble::train
