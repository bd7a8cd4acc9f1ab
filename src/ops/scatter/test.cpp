#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/families/indexed/indexed_cases.h"

namespace thimble::test::scatter_test {

THIMBLE_OP_CASES(scatter) {
  OpCases all =
      scatter_cases([](int64_t axis) { return ir::Attrs::of(ScatterOptions{axis}); }, true);
  all.cases.push_back(scatter_case("number", {3, 40}, {3, 9}, 1,
                                   ir::Attrs::of(ScatterOptions{1, 2.5}), true, false));
  all.cases.push_back(scatter_case("number_in_rows", {40, 3}, {9, 3}, 0,
                                   ir::Attrs::of(ScatterOptions{0, 2.5}), true, false));
  return all;
}

TEST(scatter, keeps_the_last_and_leaves_out_what_has_no_place) {
  const Tensor x = tensor({4}, {1, 2, 3, 4});
  const Tensor index = tensor<int32_t>(DType::i32, {5}, {-1, 4, 1, 3, 1});
  const Tensor source = tensor({5}, {10, 20, 30, 40, 50});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    EXPECT_EQ(values_of<float>(run_op("scatter", ir::Attrs::of(ScatterOptions{}),
                                      {x, index, source}, kernel)[0]),
              (std::vector<float>{1, 50, 3, 40}));
  }
}

}  // namespace thimble::test::scatter_test
