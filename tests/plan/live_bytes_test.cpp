#include "plan/swap/live_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace thimble::plan {
namespace {

TEST(live_bytes, are_those_of_a_plain_list) {
  std::mt19937 random(1);
  const auto any = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (const int steps : {0, 1, 63, 64, 65, 200, 640}) {
    Live plain(static_cast<size_t>(steps));
    for (int64_t& bytes : plain) bytes = any(0, 20);
    LiveBytes live(plain);
    for (int change = 0; change < 100; ++change) {
      const int first = any(0, steps);
      const int last = any(first, steps);
      const int64_t bytes = any(1, 9);
      const int64_t target = any(0, 30);
      int64_t above = 0;
      for (int step = first; step < last; ++step)
        above += std::clamp<int64_t>(plain[static_cast<size_t>(step)] - target, 0, bytes);
      EXPECT_EQ(live.above(target, first, last, bytes), above);
      const int64_t added = change % 2 == 0 ? bytes : -bytes;
      live.add(first, last, added);
      for (int step = first; step < last; ++step) plain[static_cast<size_t>(step)] += added;
      ASSERT_EQ(live.values(), plain);
      if (steps == 0) continue;
      const auto peak = std::max_element(plain.begin(), plain.end());
      EXPECT_EQ(live.peak_step(), peak - plain.begin());
      EXPECT_EQ(live.peak(), std::max<int64_t>(*peak, 0));
    }
    if (steps == 0) {
      EXPECT_EQ(live.peak_step(), -1);
    }
  }
}

}  // namespace
}  // namespace thimble::plan
