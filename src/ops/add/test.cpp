#include <limits>

#include "harness/op_run.h"
#include "ops/families/binary/binary_cases.h"

namespace thimble::test::add_test {

using Floats = std::vector<float>;

THIMBLE_OP_CASES(add) { return {.cases = binary_cases({}, {}), .rejects = binary_rejects()}; }

TEST(add, numbers_and_tensors_are_operands) {
  Graph g;
  const Value x = g.constant("x", {3}, {1.0F, 2.0F, -4.0F});
  const Value y = g.constant("y", {3}, {2.0F, 4.0F, 8.0F});
  EXPECT_EQ(evaluate(x * 2.0), (Floats{2.0F, 4.0F, -8.0F}));
  EXPECT_EQ(evaluate(2 * x), (Floats{2.0F, 4.0F, -8.0F}));
  EXPECT_EQ(evaluate(x + 1.0), (Floats{2.0F, 3.0F, -3.0F}));
  EXPECT_EQ(evaluate(1 + x), (Floats{2.0F, 3.0F, -3.0F}));
  EXPECT_EQ(evaluate(x - 1.0), (Floats{0.0F, 1.0F, -5.0F}));
  EXPECT_EQ(evaluate(1.0 - x), (Floats{0.0F, -1.0F, 5.0F}));
  EXPECT_EQ(evaluate(x / 2.0), (Floats{0.5F, 1.0F, -2.0F}));
  EXPECT_EQ(evaluate(2.0 / x), (Floats{2.0F, 1.0F, -0.5F}));
  EXPECT_EQ(evaluate(1.0 / x), (Floats{1.0F, 0.5F, -0.25F}));
  EXPECT_EQ(evaluate(-x), (Floats{-1.0F, -2.0F, 4.0F}));
  EXPECT_EQ(evaluate(x + y), (Floats{3.0F, 6.0F, 4.0F}));
  EXPECT_EQ(evaluate(x - y), (Floats{-1.0F, -2.0F, -12.0F}));
  EXPECT_EQ(evaluate(x * y), (Floats{2.0F, 8.0F, -32.0F}));
  EXPECT_EQ(evaluate(x / y), (Floats{0.5F, 0.5F, -0.5F}));
  EXPECT_EQ(evaluate(pow(x, 2.0)), (Floats{1.0F, 4.0F, 16.0F}));
  EXPECT_EQ(evaluate(pow(x, x)), (Floats{1.0F, 4.0F, 1.0F / 256}));
}

TEST(add, wraps_where_an_integer_overflows) {
  using Limits = std::numeric_limits<int64_t>;
  const auto sum = [](const Tensor& a, const Tensor& b) {
    return run_op("add", {}, {a, b}, Kernel::fast)[0];
  };
  EXPECT_EQ(values_of<int64_t>(sum(tensor<int64_t>(DType::i64, {2}, {Limits::max(), -1}),
                                   tensor<int64_t>(DType::i64, {2}, {1, Limits::min()}))),
            (std::vector<int64_t>{Limits::min(), Limits::max()}));
  EXPECT_EQ(values_of<int8_t>(sum(tensor<int8_t>(DType::i8, {2}, {127, -128}),
                                  tensor<int8_t>(DType::i8, {}, {1}))),
            (std::vector<int8_t>{-128, -127}));
}

}  // namespace thimble::test::add_test
