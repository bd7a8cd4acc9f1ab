#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/families/nary/nary_cases.h"

namespace thimble::test::compare_test {
namespace {

OpCases comparisons() {
  const auto of = [](const char* name, const Shape& a, const Shape& b, const Shape& y,
                     DType dtype = DType::f32) {
    // Numbers that are often equal where they are whole.
    return OpCase{.name = name,
                  .inputs = {{.shape = a, .dtype = dtype}, {.shape = b, .dtype = dtype}},
                  .expect = {y}};
  };
  std::vector<OpCase> cases = two_tensor_cases([&](const char* name, const Shape& a, const Shape& b,
                                                   const Shape& y) { return of(name, a, b, y); });
  const std::pair<const char*, DType> types[] = {
      {"integers", DType::i32}, {"bytes", DType::u8},     {"wide_integers", DType::i64},
      {"nibbles", DType::i4},   {"bits", DType::boolean}, {"doubles", DType::f64},
      {"brain", DType::bf16}};
  for (const auto& [name, dtype] : types) cases.push_back(of(name, {5, 19}, {19}, {5, 19}, dtype));
  cases.push_back(of("column_of_integers", {5, 19}, {5, 1}, {5, 19}, DType::i32));
  return {
      .cases = std::move(cases),
      .rejects = {{"shapes", {{.shape = {3, 4}}, {.shape = {3}}}, {}, "shapes that broadcast"},
                  {"two_types",
                   {{.shape = {3}, .dtype = DType::i32}, {.shape = {3}}},
                   {},
                   "b must have the type of a"}},
  };
}

}  // namespace

THIMBLE_OP_CASES(eq) { return comparisons(); }
THIMBLE_OP_CASES(ne) { return comparisons(); }
THIMBLE_OP_CASES(lt) { return comparisons(); }
THIMBLE_OP_CASES(le) { return comparisons(); }
THIMBLE_OP_CASES(gt) { return comparisons(); }
THIMBLE_OP_CASES(ge) { return comparisons(); }

TEST(eq, holds_for_no_nan) {
  const Tensor x = tensor({2}, {NAN, 1});
  EXPECT_EQ(values_of<uint8_t>(run_op("eq", {}, {x, x}, Kernel::fast)[0]),
            (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(values_of<uint8_t>(run_op("ne", {}, {x, x}, Kernel::fast)[0]),
            (std::vector<uint8_t>{1, 0}));
}

TEST(lt, tells_integers_apart_that_no_float_does) {
  const auto less = [](const Tensor& a, const Tensor& b) {
    return values_of<uint8_t>(run_op("lt", {}, {a, b}, Kernel::fast)[0]);
  };
  const int64_t large = int64_t{1} << 62;
  EXPECT_EQ(less(tensor<int64_t>(DType::i64, {2}, {large, large + 1}),
                 tensor<int64_t>(DType::i64, {2}, {large + 1, large})),
            (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(less(tensor<uint32_t>(DType::u32, {2}, {0, 0xFFFFFFFF}),
                 tensor<uint32_t>(DType::u32, {2}, {0xFFFFFFFF, 1})),
            (std::vector<uint8_t>{1, 0}));
}

}  // namespace thimble::test::compare_test
