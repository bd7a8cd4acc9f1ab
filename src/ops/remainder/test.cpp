#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::remainder_test {
namespace {

OpCases divisions() {
  const auto of = [](const char* name, const Shape& a, const Shape& b, const Shape& y) {
    return OpCase{.name = name,
                  .inputs = {{.shape = a, .low = -7.3, .high = 7.1},
                             {.shape = b, .low = -3.1, .high = 3.2, .gap = 0.7}},
                  .expect = {y}};
  };
  const auto whole = [](const char* name, const Shape& a, const Shape& b, const Shape& y,
                        DType dtype = DType::i32) {
    return OpCase{.name = name,
                  .inputs = {{.shape = a, .dtype = dtype, .low = -50, .high = 50},
                             {.shape = b, .dtype = dtype, .low = -5, .high = 5}},
                  .expect = {y}};
  };
  return {
      .cases = {of("one_shape", {3, 7}, {3, 7}, {3, 7}), of("row", {5, 19}, {19}, {5, 19}),
                of("both", {3, 1, 5}, {4, 1}, {3, 4, 5}), of("scalars", {}, {}, {}),
                of("long_vectors", {9001}, {}, {9001}), of("empty", {0, 3}, {3}, {0, 3}),
                whole("integers", {5, 19}, {5, 1}, {5, 19}),
                whole("long_integers", {40}, {40}, {40}, DType::i64)},
      .rejects = {{"two_types",
                   {{.shape = {3}, .dtype = DType::i32}, {.shape = {3}}},
                   {},
                   "no kernel for these types together"},
                  {"bytes",
                   {{.shape = {3}, .dtype = DType::u8}, {.shape = {3}, .dtype = DType::u8}},
                   {},
                   "must be floating, i64 or i32"},
                  {"shapes", {{.shape = {3, 4}}, {.shape = {3}}}, {}, "shapes that broadcast"}},
  };
}

std::vector<int32_t> of_integers(const char* op) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  const std::vector<int32_t> a = {7, -7, 7, -7, 5, least, least, least};
  const std::vector<int32_t> b = {3, 3, -3, -3, 0, -1, 2, least};
  return values_of<int32_t>(
      run_op(op, {}, {tensor(DType::i32, {8}, a), tensor(DType::i32, {8}, b)}, Kernel::fast)[0]);
}

std::vector<float> of_numbers(const char* op) {
  const Tensor a = tensor({6}, {5.5F, -5.5F, 5.5F, 1e30F, 1.0F, INFINITY});
  const Tensor b = tensor({6}, {2, 2, -2, 0.1F, 0, 2});
  return values_of<float>(run_op(op, {}, {a, b}, Kernel::fast)[0]);
}

}  // namespace

THIMBLE_OP_CASES(remainder) { return divisions(); }
THIMBLE_OP_CASES(fmod) { return divisions(); }
THIMBLE_OP_CASES(floor_divide) { return divisions(); }

TEST(remainder, of_integers_never_overflows) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(of_integers("remainder"), (std::vector<int32_t>{1, 2, -2, -1, 0, 0, 0, 0}));
  EXPECT_EQ(of_integers("fmod"), (std::vector<int32_t>{1, -1, 1, -1, 0, 0, 0, 0}));
  EXPECT_EQ(of_integers("floor_divide"),
            (std::vector<int32_t>{2, -3, -3, 2, 0, least, least / 2, 1}));
}

TEST(remainder, of_numbers_is_exact_and_nan_by_zero) {
  const std::vector<float> rest = of_numbers("remainder");
  EXPECT_EQ(rest[0], 1.5F);
  EXPECT_EQ(rest[1], 0.5F);
  EXPECT_EQ(rest[2], -0.5F);
  EXPECT_EQ(rest[3], std::fmod(1e30F, 0.1F));
  EXPECT_TRUE(std::isnan(rest[4]) && std::isnan(rest[5]));
  const std::vector<float> whole = of_numbers("floor_divide");
  EXPECT_EQ(whole[1], -3.0F);
  EXPECT_EQ(whole[4], INFINITY);
}

TEST(remainder, of_infinity_and_of_negative_zero_is_that_of_python) {
  const Tensor a = tensor({6}, {-1, 1, -1, 1, -0.0F, 0.5F});
  const Tensor b = tensor({6}, {INFINITY, -INFINITY, -INFINITY, INFINITY, 1, -INFINITY});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto whole = values_of<float>(run_op("floor_divide", {}, {a, b}, kernel)[0]);
    EXPECT_EQ(whole, (std::vector<float>{-1, -1, 0, 0, 0, -1}));
    EXPECT_TRUE(std::signbit(whole[4]));
    EXPECT_FALSE(std::signbit(whole[2]) || std::signbit(whole[3]));
  }
}

}  // namespace thimble::test::remainder_test
