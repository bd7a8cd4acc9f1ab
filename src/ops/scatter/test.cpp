#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::scatter_test {

THIMBLE_OP_CASES(scatter) {
  const auto attrs = [](int64_t axis, double value = 0.0) {
    return ir::Attrs::of(ScatterOptions{axis, value});
  };
  // Indices differ, so that the written elements have a unique gradient.
  const auto of = [&](const char* name, const Shape& x, const Shape& index, int64_t axis,
                      bool has_source = true) {
    const double last = static_cast<double>(x[static_cast<int>(axis)] - 1);
    return OpCase{
        .name = name,
        .inputs = {{.shape = x},
                   {.shape = index, .dtype = DType::i32, .low = 0, .high = last, .distinct = true},
                   {.shape = index, .absent = !has_source}},
        .attrs = attrs(axis, has_source ? 0.0 : 2.5),
        .expect = {x}};
  };
  const TensorSpec x{.shape = {3, 4}};
  const TensorSpec index{.shape = {3, 2}, .dtype = DType::i32, .low = 0, .high = 3};
  return {
      .cases = {of("last", {2, 2, 40}, {2, 2, 9}, 2), of("middle", {3, 50, 4}, {3, 4, 4}, 1),
                of("first", {60, 2, 3}, {7, 2, 3}, 0), of("a_part", {3, 40, 4}, {2, 3, 3}, 1),
                of("one_axis", {25}, {20}, 0), of("many", {30, 1000}, {30, 30}, 1),
                of("number", {3, 40}, {3, 9}, 1, false), of("nothing", {3, 5}, {3, 0}, 1)},
      .rejects = {{"source_shape", {x, index, {.shape = {3, 3}}}, attrs(1), "the shape of index"},
                  {"too_large",
                   {x, {.shape = {4, 2}, .dtype = DType::i32}, {.shape = {4, 2}}},
                   attrs(1),
                   "no larger but along"},
                  {"index_of_f32", {x, x, x}, attrs(1), "of type i32"}},
  };
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
