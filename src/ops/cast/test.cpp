#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::cast_test {
namespace {

ir::Attrs to(DType dtype) {
  return attrs_of("cast", fmt::format(R"({{"dtype": "{}"}})", to_string(dtype)));
}

template <class T>
std::vector<T> cast_to(DType dtype, const Tensor& x) {
  const auto fast = run_op("cast", to(dtype), {x}, Kernel::fast)[0];
  EXPECT_EQ(fast, run_op("cast", to(dtype), {x}, Kernel::reference)[0]);
  return values_of<T>(fast);
}

}  // namespace

THIMBLE_OP_CASES(cast) {
  const TensorSpec numbers{.shape = {3, 7}, .low = -300.0, .high = 300.0};
  const TensorSpec bytes{.shape = {3, 7}, .dtype = DType::u8};
  const TensorSpec integers{.shape = {3}, .dtype = DType::i32, .low = -1e9, .high = 1e9};
  OpCases made{
      .cases = {{"numbers", {numbers}, to(DType::f32), {{3, 7}}},
                {"to_i32", {numbers}, to(DType::i32), {{3, 7}}},
                {"to_u32", {numbers}, to(DType::u32), {{3, 7}}},
                {"to_i8", {numbers}, to(DType::i8), {{3, 7}}},
                {"to_u8", {numbers}, to(DType::u8), {{3, 7}}},
                {"bytes_to_numbers", {bytes}, to(DType::f32), {{3, 7}}},
                {"bytes_to_i8", {bytes}, to(DType::i8), {{3, 7}}},
                {"integers_to_numbers", {integers}, to(DType::f32), {{3}}},
                {"integers_to_bytes", {integers}, to(DType::u8), {{3}}},
                {"bytes_to_integers", {bytes}, to(DType::i32), {{3, 7}}},
                {"many",
                 {{.shape = {3, 9001}, .low = -1e10, .high = 1e10}},
                 to(DType::u32),
                 {{3, 9001}}},
                {"scalar", {{.shape = {}}}, to(DType::i32), {{}}},
                {"empty", {{.shape = {0, 3}}}, to(DType::u8), {{0, 3}}}},
  };
  for (const DType from : kDTypes) {
    const double low = from == DType::u8 || from == DType::u32 ? 0.0 : -100.0;
    for (const DType type : kDTypes) {
      made.cases.push_back({fmt::format("{}_to_{}", to_string(from), to_string(type)),
                            {{.shape = {3, 17}, .dtype = from, .low = low, .high = 100.0}},
                            to(type),
                            {{3, 17}}});
    }
  }
  return made;
}

TEST(cast, drops_fractions_and_keeps_to_what_the_type_can_hold) {
  const Tensor x = tensor({6}, {1.9F, -1.9F, 1e20F, -1e20F, NAN, INFINITY});
  EXPECT_EQ(cast_to<int32_t>(DType::i32, x),
            (std::vector<int32_t>{1, -1, 2147483647, -2147483647 - 1, 0, 2147483647}));
  EXPECT_EQ(cast_to<uint32_t>(DType::u32, x),
            (std::vector<uint32_t>{1, 0, 4294967295U, 0, 0, 4294967295U}));
  EXPECT_EQ(cast_to<int8_t>(DType::i8, x), (std::vector<int8_t>{1, -1, 127, -128, 0, 127}));
  EXPECT_EQ(cast_to<uint8_t>(DType::u8, x), (std::vector<uint8_t>{1, 0, 255, 0, 0, 255}));
}

TEST(cast, brings_integers_to_numbers) {
  EXPECT_EQ(cast_to<float>(DType::f32, tensor<uint8_t>(DType::u8, {2}, {0, 255})),
            (std::vector<float>{0.0F, 255.0F}));
  EXPECT_EQ(cast_to<float>(DType::f32, tensor<int32_t>(DType::i32, {2}, {-7, 7})),
            (std::vector<float>{-7.0F, 7.0F}));
}

TEST(cast, rounds_to_16_bits_at_once_to_nearest_and_even) {
  // 1 + 2^-8 lies between two numbers of bf16, 1 + 2^-11 between two of f16: ties go to even. A
  // little more, which f32 does not hold, is enough to round up.
  const double tie = 1.0 + 0x1p-8;
  const double half_tie = 1.0 + 0x1p-11;
  const Tensor x = tensor<double>(
      DType::f64, {6}, {tie, tie + 0x1p-40, tie - 0x1p-40, half_tie, half_tie + 0x1p-40, 1e300});
  EXPECT_EQ(cast_to<uint16_t>(DType::bf16, x),
            (std::vector<uint16_t>{0x3F80, 0x3F81, 0x3F80, 0x3F80, 0x3F80, 0x7F80}));
  EXPECT_EQ(cast_to<uint16_t>(DType::f16, x),
            (std::vector<uint16_t>{0x3C04, 0x3C04, 0x3C04, 0x3C00, 0x3C01, 0x7C00}));
  // 2^60 + 2^52 is a tie of bf16; one more is not, though no double holds it.
  const int64_t large = (int64_t{1} << 60) + (int64_t{1} << 52);
  const Tensor wide = tensor<int64_t>(DType::i64, {3}, {large, large + 1, -large - 1});
  EXPECT_EQ(cast_to<uint16_t>(DType::bf16, wide), (std::vector<uint16_t>{0x5D80, 0x5D81, 0xDD81}));
}

TEST(cast, holds_integers_within_their_type_exactly) {
  using Limits = std::numeric_limits<int64_t>;
  const Tensor wide = tensor<int64_t>(DType::i64, {4}, {Limits::min(), Limits::max(), -9, 7});
  EXPECT_EQ(cast_to<int64_t>(DType::i64, wide),
            (std::vector<int64_t>{Limits::min(), Limits::max(), -9, 7}));
  EXPECT_EQ(cast_to<int32_t>(DType::i32, wide),
            (std::vector<int32_t>{-2147483647 - 1, 2147483647, -9, 7}));
  EXPECT_EQ(cast_to<int16_t>(DType::i16, wide), (std::vector<int16_t>{-32768, 32767, -9, 7}));
  // Two in a byte, the first in the low half: -8 7 | -8 7.
  EXPECT_EQ(cast_to<uint8_t>(DType::i4, wide), (std::vector<uint8_t>{0x78, 0x78}));
  const Tensor numbers = tensor<double>(DType::f64, {4}, {1e30, -1e30, NAN, -2.9});
  EXPECT_EQ(cast_to<int64_t>(DType::i64, numbers),
            (std::vector<int64_t>{Limits::max(), Limits::min(), 0, -2}));
}

TEST(cast, makes_bits_of_what_differs_from_zero) {
  const Tensor x = tensor({9}, {0.0F, -0.0F, 0.25F, NAN, -3.0F, 0.0F, 0.0F, 1.0F, 1e-40F});
  EXPECT_EQ(cast_to<uint8_t>(DType::boolean, x), (std::vector<uint8_t>{0b10011100, 0b1}));
  const Tensor bits{{DType::boolean, {9}}, {std::byte{0b10011100}, std::byte{0b1}}};
  EXPECT_EQ(cast_to<int64_t>(DType::i64, bits), (std::vector<int64_t>{0, 0, 1, 1, 1, 0, 0, 1, 1}));
}

}  // namespace thimble::test::cast_test
