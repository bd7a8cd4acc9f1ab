#include <limits>

#include "harness/op_run.h"
#include "ops/families/binary/binary_cases.h"

namespace thimble::test::add_test {

THIMBLE_OP_CASES(add) { return {.cases = binary_cases({}, {}), .rejects = binary_rejects()}; }

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
