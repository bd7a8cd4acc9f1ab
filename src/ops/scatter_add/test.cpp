#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::scatter_add_test {

THIMBLE_OP_CASES(scatter_add) {
  const auto attrs = [](int64_t axis) { return ir::Attrs::of(ScatterAddOptions{axis}); };
  const auto of = [&](const char* name, const Shape& x, const Shape& index, int64_t axis) {
    const double last = static_cast<double>(x[static_cast<int>(axis)] - 1);
    return OpCase{.name = name,
                  .inputs = {{.shape = x},
                             {.shape = index, .dtype = DType::i32, .low = 0, .high = last},
                             {.shape = index}},
                  .attrs = attrs(axis),
                  .expect = {x}};
  };
  const TensorSpec x{.shape = {3, 4}};
  const TensorSpec index{.shape = {3, 2}, .dtype = DType::i32, .low = 0, .high = 3};
  return {
      .cases = {of("last", {3, 5, 4}, {3, 5, 2}, 2), of("middle", {3, 5, 4}, {3, 9, 4}, 1),
                of("first", {3, 5, 4}, {7, 5, 4}, 0), of("a_part", {3, 5, 4}, {2, 3, 3}, 1),
                of("one_axis", {9}, {20}, 0), of("many", {300, 70}, {300, 90}, 1),
                of("fewer_lines", {300, 70}, {299, 90}, 1), of("nothing", {3, 5}, {3, 0}, 1)},
      .rejects = {{"source_shape", {x, index, {.shape = {3, 3}}}, attrs(1), "the shape of index"},
                  {"too_large",
                   {x, {.shape = {4, 2}, .dtype = DType::i32}, {.shape = {4, 2}}},
                   attrs(1),
                   "no larger but along"},
                  {"index_of_f32", {x, x, x}, attrs(1), "of type i32"}},
  };
}

TEST(scatter_add, leaves_out_what_has_no_place) {
  const Tensor index = tensor<int32_t>(DType::i32, {4}, {-1, 3, 1, 1});
  const auto y =
      run_op("scatter_add", ir::Attrs::of(ScatterAddOptions{0}),
             {tensor({3}, {1, 2, 3}), index, tensor({4}, {10, 20, 30, 40})}, Kernel::reference);
  EXPECT_EQ(values_of<float>(y[0]), (std::vector<float>{1, 72, 3}));
}

}  // namespace thimble::test::scatter_add_test
