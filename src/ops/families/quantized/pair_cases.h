// Shared by the tests of quantized ops of two tensors that broadcast.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test {

inline const Quantization kLeft{.scales = {0.05F}, .zero_points = {-11}};
inline const Quantization kRight{.scales = {0.13F}, .zero_points = {40}};

template <class AttrsT>
ir::Attrs scaled_pair(double scale, Requantization how = {},
                      Activation activation = Activation::none) {
  return ir::Attrs::of(AttrsT{activation, scale, 6, how});
}

template <class AttrsT>
OpCases quantized_pair_cases() {
  const auto of = [](const char* name, const Shape& a, const Shape& b, const Shape& y,
                     Requantization how = {}) {
    return OpCase{
        name, {int8_spec(a, kLeft), int8_spec(b, kRight)}, scaled_pair<AttrsT>(0.2, how), {y}};
  };
  const auto scaled = [](double scale) { return scaled_pair<AttrsT>(scale); };
  const auto fixed = Requantization::fixed_point;
  const TensorSpec a = int8_spec({2, 5}, kLeft);
  return {
      .cases = {of("same_shape", {3, 37}, {3, 37}, {3, 37}),
                of("same_shape_in_fixed_point", {3, 37}, {3, 37}, {3, 37}, fixed),
                of("many", {3, 9001}, {3, 9001}, {3, 9001}),
                of("channels", {2, 3, 4, 5}, {2, 1, 1, 5}, {2, 3, 4, 5}),
                of("both_broadcast", {3, 1}, {1, 19}, {3, 19}, fixed), of("scalar", {}, {}, {}),
                of("empty", {0, 3}, {3}, {0, 3})},
      .rejects = {{"numbers", {a, {.shape = {2, 5}}}, scaled(1.0), "b must be i8"},
                  {"int8_without_a_scale", {plain_int8({2, 5}), a}, scaled(1.0), "expected a to"},
                  {"other_shapes", {a, int8_spec({3, 5}, kRight)}, scaled(1.0), "broadcast"},
                  {"a_scale_of_zero", {a, a}, scaled(0.0), "above 0"},
                  {"scales_too_far_apart", {a, a}, scaled(1e-30), "too far apart"},
                  {"a_huge_scale",
                   {int8_spec({2, 5}, {.scales = {3e19F}}), a},
                   scaled(1.0),
                   "of a of at most 2^60"},
                  {"a_huge_scale_of_the_result", {a, a}, scaled(1e38), "at most 2^60"}},
  };
}

// The result for two numbers whose zero points are taken away. low: the least one.
using PairOracle = int8_t (*)(int a, int b, double scale, Requantization how, double low);

// Compares both kernels with the oracle for all pairs of int8.
template <class AttrsT>
void expect_every_pair(const char* op, PairOracle oracle) {
  std::vector<int8_t> left;
  std::vector<int8_t> right;
  for (int i = -128; i < 128; ++i) {
    for (int j = -128; j < 128; ++j) {
      left.push_back(static_cast<int8_t>(i));
      right.push_back(static_cast<int8_t>(j));
    }
  }
  const Tensor a = quantized_tensor(DType::i8, {256, 256}, left, kLeft);
  const Tensor b = quantized_tensor(DType::i8, {256, 256}, right, kRight);
  for (const Requantization how : kRequantizations) {
    for (const double scale : {0.07, 0.18, 1.3}) {
      for (const Activation activation : {Activation::none, Activation::relu}) {
        const ir::Attrs attrs = scaled_pair<AttrsT>(scale, how, activation);
        const auto y = run_op(op, attrs, {a, b}, Kernel::fast)[0];
        EXPECT_EQ(y, run_op(op, attrs, {a, b}, Kernel::reference)[0]);
        const auto numbers = values_of<int8_t>(y);
        const double low = activation == Activation::relu ? 6.0 : -128.0;
        for (size_t i = 0; i < left.size(); ++i) {
          const int8_t wanted = oracle(left[i] + 11, right[i] - 40, scale, how, low);
          ASSERT_EQ(numbers[i], wanted) << int{left[i]} << " " << int{right[i]} << " " << scale;
        }
      }
    }
  }
}

// PairOracle of a + sign * b.
template <int sign>
int8_t oracle_sum(int a, int b, double scale, Requantization how, double low) {
  if (how == Requantization::fixed_point) {
    const double twice = 2.0 * static_cast<double>(kRight.scales[0]);
    const int64_t left =
        oracle_times(int64_t{a} << 20, static_cast<double>(kLeft.scales[0]) / twice);
    const int64_t right =
        oracle_times(int64_t{b} << 20, static_cast<double>(kRight.scales[0]) / twice);
    const double back = twice / (1048576.0 * static_cast<double>(static_cast<float>(scale)));
    return oracle_clamp(static_cast<double>(oracle_times(left + sign * right, back) + 6), low);
  }
  // Each step is rounded to float once.
  const auto left =
      static_cast<float>(static_cast<double>(a) * static_cast<double>(kLeft.scales[0]));
  const auto right =
      static_cast<float>(static_cast<double>(b) * static_cast<double>(kRight.scales[0]));
  const auto sum =
      static_cast<float>(static_cast<double>(left) + sign * static_cast<double>(right));
  const float quotient = sum / static_cast<float>(scale);
  return oracle_clamp(std::nearbyint(static_cast<double>(quotient)) + 6.0, low);
}

}  // namespace thimble::test
