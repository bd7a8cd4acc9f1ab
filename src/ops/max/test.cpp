#include "ops/families/extremum/extremum_cases.h"

namespace thimble::test::max_test {

THIMBLE_OP_CASES(max) { return extremum_cases(); }

TEST(max, takes_nan_for_the_largest) { expect_nan_counts_as_extreme("max"); }

TEST(max, shares_the_gradient_among_equals) {
  const Tensor dy = tensor({2}, {6.0F, 1.0F});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto of_rows =
        run_op("max_grad", over({1}), {dy, tensor({2, 3}, {5, 5, 5, 1, 2, 0}), tensor({2}, {5, 2})},
               kernel);
    EXPECT_EQ(values_of<float>(of_rows[0]), (std::vector<float>{2, 2, 2, 0, 1, 0}));
    const auto of_columns =
        run_op("max_grad", over({0}), {dy, tensor({3, 2}, {5, 1, 4, 1, 5, 0}), tensor({2}, {5, 1})},
               kernel);
    EXPECT_EQ(values_of<float>(of_columns[0]), (std::vector<float>{3, 0.5F, 0, 0.5F, 3, 0}));
  }
}

}  // namespace thimble::test::max_test
