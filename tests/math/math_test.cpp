// The functions of src/ops/families/math beside those of the C library in long double: errors in
// units in the last place over all sizes of numbers, and what C99 says about special ones.
#include "ops/families/math/math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace thimble::testing::math_test {
namespace {

using Limits = std::numeric_limits<float>;

struct One {
  const char* name;
  float (*own)(float);
  long double (*exact)(long double);
  double most_ulp;  // the largest error in the sweep, rounded up
};

struct Two {
  const char* name;
  float (*own)(float, float);
  long double (*exact)(long double, long double);
  double most_ulp;
};

#define ONE(name, ulp) \
  One { #name, math_##name, std::name, ulp }
#define TWO(name, ulp) \
  Two { #name, math_##name, std::name, ulp }

// Rounding alone is 0.5.
const std::vector<One> kOne = {
    ONE(acos, 0.55),  ONE(acosh, 0.55),
    ONE(asin, 0.55),  ONE(asinh, 0.55),
    ONE(atan, 0.55),  ONE(atanh, 0.55),
    ONE(ceil, 0),     ONE(cos, 0.55),
    ONE(cosh, 0.55),  ONE(erf, 0.55),
    ONE(erfc, 0.55),  ONE(exp, 0.55),
    ONE(exp2, 0.55),  ONE(expm1, 0.55),
    ONE(fabs, 0),     ONE(floor, 0),
    ONE(log, 0.55),   ONE(log10, 0.55),
    ONE(log1p, 0.55), ONE(log2, 0.55),
    ONE(rint, 0),     ONE(sin, 0.55),
    ONE(sinh, 0.55),  ONE(sqrt, 0.5),
    ONE(tan, 0.55),   ONE(tanh, 0.55),
    ONE(trunc, 0),    {"integer_sqrt", math_integer_sqrt, std::sqrt, 0.5},
};
const std::vector<Two> kTwo = {
    TWO(atan2, 0.55), TWO(fmax, 0), TWO(fmin, 0), TWO(fmod, 0), TWO(pow, 0.55),
};

// Of the float nearest to an exact result: the distance to the next one away from 0.
long double ulp_of(long double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::ldexp(1.0L, std::max(exponent, Limits::min_exponent) - Limits::digits);
}

// The error of a result in units in the last place; infinity where it is of another kind.
double error_of(float own, long double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(own) || std::isnan(exact))
    return std::isnan(own) == std::isnan(exact) ? 0 : INFINITY;
  if (std::isinf(own) || std::isinf(nearest)) {
    if (own == nearest) return 0;
    // Next to where floats end.
    const auto bounded =
        static_cast<long double>(std::isinf(own) ? std::copysign(0x1p128L, own) : own);
    return static_cast<double>(std::fabs(bounded - exact) / 0x1p104L);
  }
  if (own == 0 && nearest == 0 && std::signbit(own) != std::signbit(nearest)) return INFINITY;
  return static_cast<double>(std::fabs(static_cast<long double>(own) - exact) / ulp_of(exact));
}

// Every exponent with random fractions, more of them where functions do most, and special numbers.
std::vector<float> numbers(int per_exponent, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> all;
  for (uint32_t high = 0; high < 512; ++high) {
    const uint32_t exponent = high & 255;
    const int count = exponent > 100 && exponent < 136 ? 10 * per_exponent : per_exponent;
    for (int i = 0; i < count; ++i) all.push_back(math_of_bits(high << 23 | (random() & 0x7fffff)));
    for (const uint32_t fraction : {0U, 1U, 0x400000U, 0x7fffffU}) {
      all.push_back(math_of_bits(high << 23 | fraction));
    }
  }
  for (int i = -2100; i <= 2100; ++i) all.push_back(static_cast<float>(i) * 0.25F);
  // Around the multiples of pi/2, and where results leave the range of floats.
  for (int k = 1; k < 2000; ++k) {
    auto near = static_cast<float>(k * 1.57079632679489661923);
    for (int i = 0; i < 3; ++i, near = std::nextafter(near, Limits::infinity())) {
      all.push_back(near);
      all.push_back(-near);
    }
  }
  for (const float edge :
       {88.72284F, -103.97208F, 89.41599F, 128.0F, -149.0F, -150.0F, 10.05F, 3.9192F}) {
    float near = edge;
    for (int i = 0; i < 20; ++i) near = std::nextafter(near, -Limits::infinity());
    for (int i = 0; i < 40; ++i, near = std::nextafter(near, Limits::infinity()))
      all.push_back(near);
  }
  return all;
}

class OfOne : public ::testing::TestWithParam<One> {};
class OfTwo : public ::testing::TestWithParam<Two> {};

TEST_P(OfOne, is_right_to_its_last_place) {
  const One& f = GetParam();
  double most = 0;
  float worst = 0;
  for (const float x : numbers(400, 1)) {
    const double error = error_of(f.own(x), f.exact(static_cast<long double>(x)));
    if (error > most) {
      most = error;
      worst = x;
    }
  }
  RecordProperty("ulp", std::to_string(most));
  EXPECT_LE(most, f.most_ulp) << f.name << "(" << std::hexfloat << worst << ") = " << f.own(worst)
                              << ", not " << f.exact(static_cast<long double>(worst));
  std::cout << f.name << ": " << most << " ulp\n";
}

TEST_P(OfTwo, is_right_to_its_last_place) {
  const Two& f = GetParam();
  double most = 0;
  float worst_a = 0;
  float worst_b = 0;
  const auto check = [&](float a, float b) {
    // C99 leaves open which zero is the larger one.
    const bool zeros = a == 0 && b == 0 && (f.own == math_fmax || f.own == math_fmin);
    const double error = zeros ? 0
                               : error_of(f.own(a, b), f.exact(static_cast<long double>(a),
                                                               static_cast<long double>(b)));
    if (error > most) {
      most = error;
      worst_a = a;
      worst_b = b;
    }
  };
  const std::vector<float> as = numbers(60, 2);
  std::vector<float> bs = numbers(60, 3);
  std::mt19937 random(4);
  std::shuffle(bs.begin(), bs.end(), random);
  for (size_t i = 0; i < as.size(); ++i) check(as[i], bs[i]);
  // Powers within the range of floats: around 1 with large exponents, and any with small ones.
  std::uniform_real_distribution<float> unit(-1, 1);
  for (int i = 0; i < 200000; ++i) {
    const float scale = std::exp2(24 * unit(random));
    check(1 + unit(random) / scale, 80 * scale * unit(random));
    check(std::exp2(126 * unit(random)), unit(random));
    check(-std::rint(20 * std::fabs(unit(random))), std::rint(30 * unit(random)));
  }
  const std::vector<float> special = {0.0F,
                                      -0.0F,
                                      1.0F,
                                      -1.0F,
                                      0.5F,
                                      -0.5F,
                                      2.0F,
                                      -2.0F,
                                      3.0F,
                                      -3.0F,
                                      1e30F,
                                      -1e30F,
                                      Limits::infinity(),
                                      -Limits::infinity(),
                                      Limits::quiet_NaN(),
                                      Limits::denorm_min(),
                                      -Limits::denorm_min(),
                                      Limits::max(),
                                      16777215.0F,
                                      16777216.0F,
                                      0x1p-126F};
  for (const float a : special) {
    for (const float b : special) check(a, b);
  }
  RecordProperty("ulp", std::to_string(most));
  EXPECT_LE(most, f.most_ulp) << f.name << "(" << std::hexfloat << worst_a << ", " << worst_b
                              << ") = " << f.own(worst_a, worst_b);
  std::cout << f.name << ": " << most << " ulp\n";
}

INSTANTIATE_TEST_SUITE_P(math, OfOne, ::testing::ValuesIn(kOne),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(math, OfTwo, ::testing::ValuesIn(kTwo),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(math_of_double, square_roots_are_those_of_the_processor) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 300000; ++i) {
    const double x = math_double_of_bits(random());
    const double own = math_double_sqrt(x);
    if (std::isnan(x) || x < 0) {
      EXPECT_TRUE(std::isnan(own));
    } else {
      ASSERT_EQ(own, std::sqrt(x)) << x;
    }
  }
  EXPECT_EQ(math_double_sqrt(0.0), 0.0);
  EXPECT_EQ(math_double_sqrt(5e-324), std::sqrt(5e-324));
}

TEST(math_of_double, powers_are_those_of_the_library) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> unit(-1, 1);
  double around_one = 0;
  double all = 0;
  for (int i = 0; i < 300000; ++i) {
    const double x = std::exp2(300 * unit(random) * std::fabs(unit(random)));
    const double y = 4 * unit(random);
    const long double exact = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    if (exact < 1e-300L || exact > 1e300L) continue;
    const auto error =
        static_cast<double>(std::fabs(static_cast<long double>(math_double_pow(x, y)) / exact - 1));
    all = std::max(all, error);
    if (exact > 0.5L && exact < 2) around_one = std::max(around_one, error);
  }
  EXPECT_LT(all, 0x1p-39);
  EXPECT_LT(around_one, 0x1p-48);
}

TEST(math_of_double, powers_of_special_numbers_are_those_of_c) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x :
       {0.0, 0.5, 1.0, 2.0, 3.0, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    for (const double y : {-infinity, -2000.0, -2.0, 0.0, 1.0, 2000.0, infinity,
                           std::numeric_limits<double>::quiet_NaN()}) {
      const double own = math_double_pow(x, y);
      const double exact = std::pow(x, y);
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(own)) << x << " " << y;
      } else if (std::isinf(exact) || exact == 0) {
        EXPECT_EQ(own, exact) << x << " " << y;
      } else {
        EXPECT_NEAR(own / exact, 1, 1e-11) << x << " " << y;
      }
    }
  }
  EXPECT_TRUE(std::isnan(math_double_pow(-1.0, 2.0)));
}

}  // namespace
}  // namespace thimble::testing::math_test
