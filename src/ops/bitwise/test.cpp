#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/families/nary/nary_cases.h"

namespace thimble::test::bitwise_test {
namespace {

TensorSpec spec(const Shape& shape, DType dtype, double low, double high) {
  return {.shape = shape, .dtype = dtype, .low = low, .high = high};
}

// high: of the second operand.
OpCases of_two(double low, double high) {
  const auto of = [=](const char* name, const Shape& a, const Shape& b, const Shape& y,
                      DType dtype = DType::i32) {
    const bool is_signed = dtype != DType::u8 && dtype != DType::u32;
    const double range = dtype == DType::i32 ? 2e9 : 127.0;
    return OpCase{.name = name,
                  .inputs = {spec(a, dtype, is_signed ? -range : 0.0, range),
                             spec(b, dtype, is_signed ? low : 0.0, high)},
                  .expect = {y}};
  };
  const TensorSpec x = spec({3}, DType::i32, 0, 9);
  std::vector<OpCase> cases = two_tensor_cases([&](const char* name, const Shape& a, const Shape& b,
                                                   const Shape& y) { return of(name, a, b, y); });
  const std::pair<const char*, DType> types[] = {{"bytes", DType::u8},
                                                 {"signed_bytes", DType::i8},
                                                 {"shorts", DType::i16},
                                                 {"long_integers", DType::i64},
                                                 {"unsigned", DType::u32}};
  for (const auto& [name, dtype] : types) cases.push_back(of(name, {5, 19}, {19}, {5, 19}, dtype));
  return {
      .cases = std::move(cases),
      .rejects = {{"numbers", {{.shape = {3}}, {.shape = {3}}}, {}, "a must be integer, got f32"},
                  {"two_types", {x, spec({3}, DType::u8, 0, 9)}, {}, "b must have the type of a"},
                  {"shapes", {x, spec({4}, DType::i32, 0, 9)}, {}, "shapes that broadcast"}},
  };
}

std::vector<int32_t> shifted(const char* op, const std::vector<int32_t>& a,
                             const std::vector<int32_t>& b) {
  const Shape shape{static_cast<int64_t>(a.size())};
  return values_of<int32_t>(run_op(
      op, {}, {tensor(DType::i32, shape, a), tensor(DType::i32, shape, b)}, Kernel::fast)[0]);
}

}  // namespace

THIMBLE_OP_CASES(bitwise_and) { return of_two(-100, 100); }
THIMBLE_OP_CASES(bitwise_or) { return of_two(-100, 100); }
THIMBLE_OP_CASES(bitwise_xor) { return of_two(-100, 100); }
THIMBLE_OP_CASES(bitwise_left_shift) { return of_two(-2, 34); }
THIMBLE_OP_CASES(bitwise_right_shift) { return of_two(-2, 34); }
THIMBLE_OP_CASES(bitwise_not) {
  return {.cases = {{.name = "integers",
                     .inputs = {spec({5, 19}, DType::i32, -2e9, 2e9)},
                     .expect = {{5, 19}}},
                    {.name = "bytes", .inputs = {spec({40001}, DType::u8, 0, 255)}},
                    {.name = "signed_bytes", .inputs = {spec({7}, DType::i8, -128, 127)}},
                    {.name = "empty", .inputs = {spec({0}, DType::u8, 0, 1)}}},
          .rejects = {{"numbers", {{.shape = {3}}}, {}, "a must be integer, got f32"}}};
}

TEST(bitwise_shifts, leave_what_the_documentation_says) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(shifted("bitwise_left_shift", {1, 3, 3, -1, 5, least}, {31, 31, 32, 4, -1, 1}),
            (std::vector<int32_t>{least, least, 0, -16, 0, 0}));
  EXPECT_EQ(shifted("bitwise_right_shift", {least, -1, 7, 7, -7, -8}, {31, 40, 40, -1, -1, 2}),
            (std::vector<int32_t>{-1, -1, 0, 0, -1, -2}));
}

}  // namespace thimble::test::bitwise_test
