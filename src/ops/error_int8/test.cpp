#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::error_int8_test {
namespace {

struct Stored {
  std::vector<int8_t> integers;
  float scale;
  std::vector<float> restored;
};

Stored stored(const std::vector<float>& x) {
  const Shape shape{static_cast<int64_t>(x.size())};
  const auto made = run_op("error_to_int8", {}, {tensor(shape, x)}, Kernel::fast);
  Stored s{values_of<int8_t>(made[0]), values_of<float>(made[1])[0], {}};
  s.restored = values_of<float>(
      run_op("error_from_int8", {},
             {tensor(DType::i8, shape, s.integers), tensor(Shape{}, std::vector<float>{s.scale})},
             Kernel::fast)[0]);
  return s;
}

}  // namespace

THIMBLE_OP_CASES(error_to_int8) {
  return {.cases = {{"some", {{.shape = {3, 37}}}, {}, {{3, 37}, {}}},
                    {"empty", {{.shape = {0}}}, {}, {{0}, {}}}}};
}

THIMBLE_OP_CASES(error_from_int8) {
  const TensorSpec y{.shape = {3, 37}, .dtype = DType::i8, .low = -127.0, .high = 127.0};
  const TensorSpec scale{.shape = {}, .low = 0.01, .high = 2.0};
  return {.cases = {{"some", {y, scale}, {}, {{3, 37}}}},
          .rejects = {{"several_scales", {y, {.shape = {3}}}, {}, "expected one scale"}}};
}

TEST(error_int8, is_the_nearest_of_255_steps_up_to_the_largest) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0.0F, 1e-3F);
  for (int round = 0; round < 20; ++round) {
    std::vector<float> x(static_cast<size_t>(1 + round * 17));
    double most = 0.0;
    for (float& v : x) {
      v = normal(random);
      most = std::max(most, std::abs(static_cast<double>(v)));
    }
    const Stored s = stored(x);
    EXPECT_FLOAT_EQ(s.scale, static_cast<float>(most / 127.0));
    int largest = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double steps = static_cast<double>(x[i]) / static_cast<double>(s.scale);
      // The quotient of f32 may lie at the other side of a half.
      EXPECT_NEAR(s.integers[i], steps, 0.5 + 1e-5);
      EXPECT_EQ(s.restored[i], static_cast<float>(s.integers[i]) * s.scale);
      largest = std::max(largest, std::abs(static_cast<int>(s.integers[i])));
    }
    EXPECT_EQ(largest, 127);
  }
  const Stored halves = stored({127.0F, 0.5F, 1.5F, -2.5F});
  EXPECT_EQ(halves.integers, (std::vector<int8_t>{127, 0, 2, -2}));
}

TEST(error_int8, keeps_zeros_and_what_is_no_number) {
  EXPECT_EQ(stored({0.0F, -0.0F}).restored, (std::vector<float>{0.0F, 0.0F}));
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const float number : stored({1.0F, bad, 0.0F}).restored) {
      EXPECT_FALSE(std::isfinite(number));
    }
  }
}

}  // namespace thimble::test::error_int8_test
