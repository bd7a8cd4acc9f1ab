// Helpers of the tests of fast kernels: vector targets to loop over, guarded buffers, tolerance.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "harness/vector_targets.h"

namespace thimble::testing {

using test::for_each_target;

// Floats with a pattern before and behind them that a kernel must not touch.
class Guarded {
 public:
  explicit Guarded(int64_t count, float fill = 0.0f)
      : count_(static_cast<size_t>(count)), all_(count_ + 2 * kGuard, kPattern) {
    std::fill_n(all_.begin() + kGuard, count_, fill);
  }
  float* data() { return all_.data() + kGuard; }
  [[nodiscard]] const float* data() const { return all_.data() + kGuard; }
  [[nodiscard]] size_t size() const { return count_; }
  [[nodiscard]] bool intact() const {
    const auto is_pattern = [](float v) { return v == kPattern; };
    return std::all_of(all_.begin(), all_.begin() + kGuard, is_pattern) &&
           std::all_of(all_.end() - kGuard, all_.end(), is_pattern);
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr float kPattern = -12345.678f;
  size_t count_;
  std::vector<float> all_;
};

// Uniform in [-1, 1].
inline void fill_random(Guarded& values, uint32_t seed) {
  std::mt19937 random(seed);
  for (size_t i = 0; i < values.size(); ++i) {
    values.data()[i] = static_cast<float>(static_cast<double>(random()) / 2147483648.0 - 1.0);
  }
}

inline std::vector<double> widened(const Guarded& values) {
  return {values.data(), values.data() + values.size()};
}

// A workspace that is exactly as large as promised, full of NaN so that reading it unwritten shows.
inline Guarded make_workspace(int64_t bytes) { return Guarded((bytes + 3) / 4, std::nanf("")); }

// Sums of `terms` products of numbers in [-1, 1]: each rounding is at most 2^-24 of the running
// sum, whose magnitude stays below about terms / 3; the factor leaves room for unlucky signs.
inline double sum_tolerance(int64_t terms) {
  return 0x1p-24 * 4.0 * (8.0 + static_cast<double>(terms));
}

inline void expect_close(const Guarded& got, const std::vector<double>& want, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    // Written so that NaN fails.
    ASSERT_TRUE(std::fabs(got.data()[i] - want[i]) <= tolerance)
        << what << ": element " << i << " is " << got.data()[i] << ", expected " << want[i];
  }
}

inline bool same_bits(const Guarded& a, const Guarded& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace thimble::testing
