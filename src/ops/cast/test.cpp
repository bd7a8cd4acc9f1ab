#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/cast/attrs.h"

namespace thimble::test::cast_test {
namespace {

ir::Attrs to(DType dtype) { return ir::Attrs::of(CastAttrs{dtype}); }

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
  return {
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
      .rejects = {{"bits", {{.shape = {8}, .dtype = DType::boolean}}, to(DType::f32), "among f32"},
                  {"booleans", {numbers}, to(DType::boolean), "masks are u8"},
                  {"half", {numbers}, to(DType::f16), "among f32"}},
  };
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

}  // namespace thimble::test::cast_test
