// Shared by the tests of quantized ops: specs of quantized tensors, random int8 numbers, and
// oracles that share no code with the kernels.
#pragma once

#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test {

inline constexpr Requantization kRequantizations[] = {Requantization::floating,
                                                      Requantization::fixed_point};

inline TensorSpec int8_spec(const Shape& shape, const Quantization& q) {
  return {.shape = shape, .dtype = DType::i8, .low = -128.0, .high = 127.0, .quantization = q};
}
// Weights of one scale.
inline TensorSpec weight_spec(const Shape& shape) { return int8_spec(shape, {.scales = {0.02F}}); }
inline TensorSpec bias_spec(int64_t channels) {
  return {.shape = {channels}, .dtype = DType::i32, .low = -3000.0, .high = 3000.0};
}
inline TensorSpec plain_int8(const Shape& shape) {
  return {.shape = shape, .dtype = DType::i8, .low = -128.0, .high = 127.0};
}

inline std::vector<int8_t> random_int8(int64_t count, std::mt19937& random) {
  std::uniform_int_distribution<int> uniform(-128, 127);
  std::vector<int8_t> numbers(static_cast<size_t>(count));
  for (int8_t& number : numbers) number = static_cast<int8_t>(uniform(random));
  return numbers;
}

template <class T>
Tensor quantized_tensor(DType dtype, const Shape& shape, const std::vector<T>& values,
                        const Quantization& q) {
  Tensor made = tensor<T>(dtype, shape, values);
  made.type.quantization = std::make_shared<const Quantization>(q);
  return made;
}

// floor(a / b)
inline int64_t floor_quotient(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

// v * factor in the fixed point of TensorFlow Lite: the upper half of 2 v m, halves up, then a
// rounded shift, halves away from zero; as quotients of integers.
inline int64_t oracle_times(int64_t v, double factor) {
  if (factor == 0.0) return 0;
  int exponent = static_cast<int>(std::floor(std::log2(factor))) + 1;
  if (std::ldexp(1.0, exponent) <= factor) ++exponent;
  if (std::ldexp(1.0, exponent - 1) > factor) --exponent;
  auto m = static_cast<int64_t>(std::floor(std::ldexp(factor, 31 - exponent) + 0.5));
  if (m == int64_t{1} << 31) {
    m = int64_t{1} << 30;
    ++exponent;
  }
  if (exponent < -31) return 0;
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  if (exponent > 0) {
    v = std::clamp<int64_t>(v * (int64_t{1} << exponent), -kMost - 1, kMost);
  }
  const int64_t high = floor_quotient(v * m + (int64_t{1} << 30), int64_t{1} << 31);
  if (exponent >= 0) return high;
  const int64_t divisor = int64_t{1} << -exponent;
  const int64_t size = (std::abs(high) + divisor / 2) / divisor;
  return high < 0 ? -size : size;
}

inline int8_t oracle_clamp(double v, double low = -128.0, double high = 127.0) {
  return static_cast<int8_t>(std::min(std::max(v, low), high));
}

// An int32 sum under a factor and zero point.
inline int8_t oracle_requantize(int64_t sum, double factor, int zero_point, Requantization how,
                                double low = -128.0, double high = 127.0) {
  sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
  if (how == Requantization::fixed_point) {
    return oracle_clamp(static_cast<double>(oracle_times(sum, factor) + zero_point), low, high);
  }
  // The product of two floats is exact in double, and rounded to float once.
  const auto product = static_cast<float>(static_cast<double>(static_cast<float>(sum)) *
                                          static_cast<double>(static_cast<float>(factor)));
  return oracle_clamp(std::nearbyint(static_cast<double>(product)) + zero_point, low, high);
}

}  // namespace thimble::test
