#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/sum/attrs.h"

namespace thimble::test {
namespace {

ir::Attrs over(std::vector<int64_t> axes, bool keepdims = false) {
  return ir::Attrs::of(ReduceOptions{std::move(axes), keepdims});
}

OpCase distinct(const char* name, const Shape& shape, const ir::Attrs& attrs, const Shape& y) {
  return {
      .name = name, .inputs = {{.shape = shape, .distinct = true}}, .attrs = attrs, .expect = {y}};
}

}  // namespace

THIMBLE_OP_CASES(max) {
  return {
      .cases = {distinct("all", {3, 4, 5}, over({}), {}),
                distinct("last", {3, 37}, over({-1}), {3}),
                distinct("first_kept", {37, 5}, over({0}, true), {1, 5}),
                distinct("images", {3, 6, 7, 5}, over({1, 2}), {3, 5}),
                distinct("long_rows", {3, 1001}, over({1}), {3}),
                distinct("many_rows", {701, 33}, over({1}), {701}),
                distinct("many_columns", {3, 9, 131}, over({1}, true), {3, 1, 131}),
                distinct("interleaved", {3, 4, 5, 6}, over({0, 2}), {4, 6}),
                distinct("batch_of_1", {1, 9}, over({0}), {9}),
                distinct("scalar", {}, over({}), {}), distinct("no_rows", {0, 3}, over({1}), {0})},
      .rejects = {{"of_nothing", {{.shape = {3, 0}}}, over({1}), "no largest element"},
                  {"no_such_axis", {{.shape = {3, 4}}}, over({2}), "there is no axis 2"},
                  {"integers", {{.shape = {3}, .dtype = DType::i32}}, over({}), "of type f32"}},
  };
}

TEST(max, takes_nan_for_the_largest) {
  const auto y = run_op("max", over({1}), {tensor({2, 2}, {1, NAN, NAN, 1})}, Kernel::fast);
  for (const float v : values_of<float>(y[0])) EXPECT_TRUE(std::isnan(v));
}

TEST(max, finds_nan_wherever_it_is) {
  for (const size_t place : {0, 1, 16, 63, 64, 150}) {
    std::vector<float> x(151, 1.0F);
    x[place] = NAN;
    for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
      const auto of_row = run_op("max", over({1}), {tensor({1, 151}, x)}, kernel);
      EXPECT_TRUE(std::isnan(values_of<float>(of_row[0])[0])) << place;
      const auto of_columns = run_op("max", over({0}), {tensor({151, 1}, x)}, kernel);
      EXPECT_TRUE(std::isnan(values_of<float>(of_columns[0])[0])) << place;
    }
  }
}

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

}  // namespace thimble::test
