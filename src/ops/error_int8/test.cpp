#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/error_int8/dims.h"

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
  const std::vector<float> none(x.size(), 0.0F);
  s.restored = values_of<float>(run_op("add_int8_error", {},
                                       {tensor(shape, none), tensor(DType::i8, shape, s.integers),
                                        tensor(Shape{}, std::vector<float>{s.scale})},
                                       Kernel::fast)[0]);
  return s;
}

// As C code for Cortex-M has them.
namespace dsp {
using real = float;
#include "ops/error_int8/cortex_m_dsp.h"
}  // namespace dsp
#undef ERROR_INT8_OWN_ROUNDING
namespace ref {
using real = float;
#include "ops/error_int8/ref.h"
}  // namespace ref

}  // namespace

THIMBLE_OP_CASES(error_to_int8) {
  return {.cases = {{"some", {{.shape = {3, 37}}}, {}, {{3, 37}, {}}},
                    {"empty", {{.shape = {0}}}, {}, {{0}, {}}}}};
}

THIMBLE_OP_CASES(error_from_int8) {
  const TensorSpec y{.shape = {3, 37}, .dtype = DType::i8, .low = -127.0, .high = 127.0};
  return {.cases = {{"some", {y, {.shape = {}, .low = 0.01, .high = 2.0}}, {}, {{3, 37}}}},
          .rejects = {{"several_scales", {y, {.shape = {3}}}, {}, "expected one scale"}}};
}

THIMBLE_OP_CASES(add_int8_error) {
  const TensorSpec dx{.shape = {3, 37}};
  const TensorSpec y{.shape = {3, 37}, .dtype = DType::i8, .low = -127.0, .high = 127.0};
  const TensorSpec scale{.shape = {}, .low = 0.01, .high = 2.0};
  return {.cases = {{"some", {dx, y, scale}, {}, {{3, 37}}}},
          .rejects = {{"several_scales", {dx, y, {.shape = {3}}}, {}, "expected one scale"},
                      {"another_shape", {{.shape = {37, 3}}, y, scale}, {}, "the shape of dx"}}};
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

TEST(error_int8, of_microcontrollers_has_the_bits_of_the_reference) {
  std::mt19937 random(4);
  for (const float size :
       {0.0F, 1e-42F, 1e-30F, 1.0F, 3e38F, std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    for (const int n : {1, 7, 64, 131}) {
      std::normal_distribution<float> normal(0.0F, 0.1F);
      std::vector<float> x(static_cast<size_t>(n));
      for (float& v : x) v = normal(random) * size;
      x[x.size() / 2] = size;
      const error_int8_dims d{n};
      std::vector<int8_t> wanted(x.size());
      std::vector<int8_t> made(x.size());
      float scale = 0.0F;
      float other = 0.0F;
      ref::error_to_int8_ref(wanted.data(), &scale, x.data(), &d);
      dsp::error_to_int8_ref(made.data(), &other, x.data(), &d);
      EXPECT_EQ(made, wanted) << size;
      EXPECT_TRUE(scale == other || (std::isnan(scale) && std::isnan(other))) << size;
      std::vector<float> sum(x.size());
      for (float& v : x) v = normal(random);
      ref::add_int8_error_ref(sum.data(), x.data(), wanted.data(), &scale, &d);
      std::vector<float> loaded(x.size());
      ref::error_from_int8_ref(loaded.data(), wanted.data(), &scale, &d);
      for (size_t i = 0; i < x.size(); ++i) {
        const float alone = static_cast<float>(wanted[i]) * scale + x[i];
        EXPECT_TRUE(loaded[i] + x[i] == alone || std::isnan(alone)) << size;
      }
      dsp::add_int8_error_ref(x.data(), x.data(), wanted.data(), &scale, &d);
      EXPECT_EQ(std::memcmp(x.data(), sum.data(), x.size() * sizeof(float)), 0) << size;
    }
  }
}

}  // namespace thimble::test::error_int8_test
