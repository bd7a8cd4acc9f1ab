#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

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
  return {
      .cases = {of("one_shape", {3, 7}, {3, 7}, {3, 7}), of("row", {5, 19}, {19}, {5, 19}),
                of("both", {3, 1, 5}, {4, 1}, {3, 4, 5}),
                of("integers", {5, 19}, {5, 1}, {5, 19}, DType::i32),
                of("bytes", {5, 19}, {19}, {5, 19}, DType::u8),
                of("wide_integers", {5, 19}, {5, 1}, {5, 19}, DType::i64),
                of("nibbles", {5, 19}, {19}, {5, 19}, DType::i4),
                of("bits", {5, 19}, {19}, {5, 19}, DType::boolean),
                of("doubles", {5, 19}, {19}, {5, 19}, DType::f64),
                of("brain", {5, 19}, {19}, {5, 19}, DType::bf16), of("scalars", {}, {}, {}),
                of("long_vectors", {40001}, {}, {40001}), of("empty", {0, 3}, {3}, {0, 3})},
      .rejects = {{"shapes", {{.shape = {3, 4}}, {.shape = {3}}}, {}, "shapes that broadcast"},
                  {"two_types",
                   {{.shape = {3}, .dtype = DType::i32}, {.shape = {3}}},
                   {},
                   "a and b of one type"}},
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
