#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::one_hot_test {

THIMBLE_OP_CASES(one_hot) {
  const auto of = [](int64_t classes) { return ir::Attrs::of(OneHotOptions{classes}); };
  const auto labels = [](const Shape& shape) {
    return TensorSpec{.shape = shape, .dtype = DType::i32, .low = 0, .high = 4};
  };
  return {
      .cases = {{"rows", {labels({7})}, of(5), {{7, 5}}},
                {"matrix", {labels({3, 4})}, of(5), {{3, 4, 5}}},
                {"scalar", {labels({})}, of(5), {{5}}},
                {"one_class", {labels({3})}, of(1), {{3, 1}}},
                {"no_rows", {labels({0})}, of(5), {{0, 5}}}},
      .rejects = {{"no_classes", {labels({3})}, of(0), "at least one class"},
                  {"too_many_classes", {labels({3})}, of(int64_t{1} << 40), "fewer than 2^31"},
                  {"numbers", {{.shape = {3}}}, of(5), "cast first"}},
  };
}

TEST(one_hot, is_zero_for_an_index_that_is_no_class) {
  const Tensor x = tensor<int32_t>(DType::i32, {3}, {-1, 2, 1});
  const auto y = run_op("one_hot", ir::Attrs::of(OneHotOptions{2}), {x}, Kernel::reference);
  EXPECT_EQ(values_of<float>(y[0]), (std::vector<float>{0, 0, 0, 0, 0, 1}));
}

}  // namespace thimble::test::one_hot_test
