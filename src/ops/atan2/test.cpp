#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "harness/op_run.h"
#include "ops/families/binary/binary_cases.h"

namespace thimble::test::atan2_test {

THIMBLE_OP_CASES(atan2) {
  return {.cases = binary_cases({.low = -3, .high = 3}, {.low = -3, .high = 3, .gap = 0.2}),
          .rejects = binary_rejects()};
}

TEST(atan2, is_that_of_c_for_zeros_infinities_and_nan) {
  const std::vector<float> marks = {0.0F,      -0.0F, 1.0F,   -1.0F, INFINITY,
                                    -INFINITY, NAN,   1e-40F, 3e38F};
  std::vector<float> a;
  std::vector<float> b;
  for (const float x : marks) {
    for (const float y : marks) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const Shape shape{static_cast<int64_t>(a.size())};
  const auto ours =
      values_of<float>(run_op("atan2", {}, {tensor(shape, a), tensor(shape, b)}, Kernel::fast)[0]);
  for (size_t i = 0; i < a.size(); ++i) {
    const float expected = std::atan2(a[i], b[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(ours[i])) << a[i] << " " << b[i];
    } else {
      EXPECT_NEAR(ours[i], expected, 5e-7F) << a[i] << " " << b[i];
      EXPECT_EQ(std::signbit(ours[i]), std::signbit(expected)) << a[i] << " " << b[i];
    }
  }
}

}  // namespace thimble::test::atan2_test
