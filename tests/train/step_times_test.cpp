#include "train/step_times.h"

#include <gtest/gtest.h>

#include <vector>

#include "data/random.h"

namespace thimble::train::step_times_test {
namespace {

constexpr double kOff = 0.003;  // as StepTimes says

TEST(step_times, median_has_the_published_error) {
  data::Random random(3);
  for (const double scale : {1e-3, 0.3, 40.0, 9e4}) {
    StepTimes times;
    std::vector<double> all;
    for (int i = 0; i < 1001; ++i) {
      all.push_back(scale * static_cast<double>(random.uniform(0.5F, 2.0F)));
      times.add(all.back());
    }
    std::nth_element(all.begin(), all.begin() + 500, all.end());
    EXPECT_NEAR(times.median(), all[500], kOff * all[500]);
  }
}

TEST(step_times, median_of_none_is_zero_and_of_extreme_times_the_border) {
  EXPECT_EQ(StepTimes().median(), 0.0);
  StepTimes none;
  none.add(0.0);
  EXPECT_NEAR(none.median(), 1e-4, kOff * 1e-4);
  StepTimes forever;
  forever.add(1e30);
  EXPECT_GT(forever.median(), 8e5);
}

}  // namespace
}  // namespace thimble::train::step_times_test
