#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::gather_test {

THIMBLE_OP_CASES(gather) {
  const auto attrs = [](int64_t axis) { return ir::Attrs::of(GatherOptions{axis}); };
  const auto index = [](const Shape& shape, double last) {
    return TensorSpec{.shape = shape, .dtype = DType::i32, .low = 0, .high = last};
  };
  const TensorSpec x{.shape = {3, 5, 4}};
  return {
      .cases = {{"last", {x, index({3, 5, 2}, 3)}, attrs(-1), {{3, 5, 2}}},
                {"middle", {x, index({3, 9, 4}, 4)}, attrs(1), {{3, 9, 4}}},
                {"first", {x, index({2, 5, 4}, 2)}, attrs(0), {{2, 5, 4}}},
                {"a_part", {x, index({2, 3, 3}, 4)}, attrs(1), {{2, 3, 3}}},
                {"one_axis", {{.shape = {9}}, index({20}, 8)}, attrs(0), {{20}}},
                {"one_element", {{.shape = {1, 1}}, index({1, 1}, 0)}, attrs(0), {{1, 1}}},
                {"many", {{.shape = {300, 70}}, index({300, 90}, 69)}, attrs(1), {{300, 90}}},
                {"many_rows", {{.shape = {70, 300}}, index({90, 300}, 69)}, attrs(0), {{90, 300}}},
                {"words",
                 {{.shape = {3, 40}, .dtype = DType::i32}, index({3, 50}, 39)},
                 attrs(1),
                 {{3, 50}}},
                {"nothing", {x, index({3, 0, 4}, 0)}, attrs(1), {{3, 0, 4}}},
                {"bytes",
                 {{.shape = {3, 5}, .dtype = DType::u8}, index({3, 2}, 4)},
                 attrs(1),
                 {{3, 2}}}},
      .rejects = {{"too_large", {x, index({4, 5, 4}, 0)}, attrs(1), "no larger but along"},
                  {"ranks", {x, index({3}, 0)}, attrs(0), "as many dimensions"},
                  {"no_such_axis", {x, index({3, 5, 4}, 0)}, attrs(3), "there is no axis 3"},
                  {"index_of_f32", {x, x}, attrs(1), "must be i32"}},
  };
}

TEST(gather, is_nan_for_an_index_that_does_not_exist) {
  // More than the lanes of any vector.
  std::vector<int32_t> places(20, -1);
  places[1] = 3;
  places[2] = places[19] = 1;
  places[3] = std::numeric_limits<int32_t>::max();
  places[4] = std::numeric_limits<int32_t>::min();
  const Tensor index = tensor<int32_t>(DType::i32, {20}, places);
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto y = values_of<float>(run_op("gather", ir::Attrs::of(GatherOptions{0}),
                                           {tensor({3}, {1, 2, 3}), index}, kernel)[0]);
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] == 1) {
        EXPECT_EQ(y[i], 2.0F);
      } else {
        EXPECT_TRUE(std::isnan(y[i])) << i;
      }
    }
  }
}

TEST(gather, is_nan_of_16_bits_for_an_index_that_does_not_exist) {
  const Tensor index = tensor<int32_t>(DType::i32, {3}, {-1, 1, 2});
  for (const DType dtype : {DType::bf16, DType::f16}) {
    for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
      const Tensor x = tensor<uint16_t>(dtype, {2}, {1, 2});
      const auto y = values_of<uint16_t>(
          run_op("gather", ir::Attrs::of(GatherOptions{0}), {x, index}, kernel)[0]);
      EXPECT_EQ(y, (std::vector<uint16_t>{0xFFFF, 2, 0xFFFF}));
    }
  }
}

TEST(gather, is_nan_of_64_bits_for_an_index_that_does_not_exist) {
  const Tensor index = tensor<int32_t>(DType::i32, {3}, {-1, 1, 2});
  const Tensor x = tensor<double>(DType::f64, {2}, {1, 2});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto y =
        values_of<double>(run_op("gather", ir::Attrs::of(GatherOptions{0}), {x, index}, kernel)[0]);
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[2]));
    EXPECT_EQ(y[1], 2.0);
  }
}

}  // namespace thimble::test::gather_test
