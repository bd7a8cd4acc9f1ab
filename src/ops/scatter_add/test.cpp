#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/families/indexed/indexed_cases.h"

namespace thimble::test::scatter_add_test {

THIMBLE_OP_CASES(scatter_add) {
  const auto attrs = [](int64_t axis) { return ir::Attrs::of(ScatterAddOptions{axis}); };
  OpCases all = scatter_cases(attrs, false);
  const auto of = [&](const char* name, const Shape& x, const Shape& index, int64_t axis) {
    all.cases.push_back(scatter_case(name, x, index, axis, attrs(axis), false));
  };
  of("more_than_elements", {3, 5, 4}, {3, 9, 4}, 1);
  of("more_than_rows", {7, 600}, {70, 600}, 0);
  of("more_than_rows_and_fewer_columns", {2, 7, 600}, {2, 80, 597}, 1);
  of("more_than_a_line", {300, 70}, {300, 90}, 1);
  return all;
}

TEST(scatter_add, leaves_out_what_has_no_place) {
  const Tensor index = tensor<int32_t>(DType::i32, {4}, {-1, 3, 1, 1});
  const auto y =
      run_op("scatter_add", ir::Attrs::of(ScatterAddOptions{0}),
             {tensor({3}, {1, 2, 3}), index, tensor({4}, {10, 20, 30, 40})}, Kernel::reference);
  EXPECT_EQ(values_of<float>(y[0]), (std::vector<float>{1, 72, 3}));
}

}  // namespace thimble::test::scatter_add_test
