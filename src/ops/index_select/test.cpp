#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::index_select_test {

THIMBLE_OP_CASES(index_select) {
  const auto attrs = [](int64_t axis) { return ir::Attrs::of(IndexSelectOptions{axis}); };
  const auto index = [](int64_t count, double last) {
    return TensorSpec{.shape = {count}, .dtype = DType::i32, .low = 0, .high = last};
  };
  const TensorSpec x{.shape = {3, 5, 4}};
  return {
      .cases =
          {{"first", {x, index(7, 2)}, attrs(0), {{7, 5, 4}}},
           {"middle", {x, index(2, 4)}, attrs(1), {{3, 2, 4}}},
           {"last", {x, index(6, 3)}, attrs(-1), {{3, 5, 6}}},
           {"one_axis", {{.shape = {9}}, index(20, 8)}, attrs(0), {{20}}},
           {"table", {{.shape = {50, 300}}, index(400, 49)}, attrs(0), {{400, 300}}},
           {"nothing", {x, index(0, 0)}, attrs(1), {{3, 0, 4}}},
           {"of_nothing", {{.shape = {0, 5}}, index(3, 4)}, attrs(1), {{0, 3}}},
           {"empty_axis", {{.shape = {2, 0}}, index(0, 0)}, attrs(1), {{2, 0}}},
           {"bytes", {{.shape = {3, 5}, .dtype = DType::u8}, index(2, 4)}, attrs(1), {{3, 2}}}},
      .rejects = {{"a_matrix_of_indices",
                   {x, {.shape = {2, 2}, .dtype = DType::i32}},
                   attrs(0),
                   "index of 1 dimension"},
                  {"no_such_axis", {x, index(2, 0)}, attrs(3), "there is no axis 3"},
                  {"index_of_f32", {x, {.shape = {3}}}, attrs(0), "must be i32"}},
  };
}

TEST(index_select, is_nan_for_an_index_that_does_not_exist) {
  const Tensor index = tensor<int32_t>(DType::i32, {3}, {-1, 1, 2});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto y = values_of<float>(run_op("index_select", ir::Attrs::of(IndexSelectOptions{0}),
                                           {tensor({2, 1}, {1, 2}), index}, kernel)[0]);
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[2]));
    EXPECT_EQ(y[1], 2.0F);
  }
}

TEST(index_select, is_nan_of_16_bits_for_an_index_that_does_not_exist) {
  const Tensor index = tensor<int32_t>(DType::i32, {3}, {-1, 1, 2});
  for (const DType dtype : {DType::bf16, DType::f16}) {
    for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
      const Tensor x = tensor<uint16_t>(dtype, {2, 1}, {1, 2});
      const auto y = values_of<uint16_t>(
          run_op("index_select", ir::Attrs::of(IndexSelectOptions{0}), {x, index}, kernel)[0]);
      EXPECT_EQ(y, (std::vector<uint16_t>{0xFFFF, 2, 0xFFFF}));
    }
  }
}

TEST(index_select, is_nan_of_64_bits_for_an_index_that_does_not_exist) {
  const Tensor index = tensor<int32_t>(DType::i32, {3}, {-1, 1, 2});
  const Tensor x = tensor<double>(DType::f64, {2, 1}, {1, 2});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto y = values_of<double>(
        run_op("index_select", ir::Attrs::of(IndexSelectOptions{0}), {x, index}, kernel)[0]);
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[2]));
    EXPECT_EQ(y[1], 2.0);
  }
}

}  // namespace thimble::test::index_select_test
