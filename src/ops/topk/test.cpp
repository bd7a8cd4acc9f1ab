#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::topk_test {

THIMBLE_OP_CASES(topk) {
  const auto attrs = [](int64_t k, int64_t axis, bool largest = true) {
    return ir::Attrs::of(TopkOptions{k, axis, largest});
  };
  const auto of = [](const char* name, const Shape& x, const ir::Attrs& a, const Shape& y) {
    return OpCase{
        .name = name, .inputs = {{.shape = x, .distinct = true}}, .attrs = a, .expect = {y, y}};
  };
  OpCase ties{.name = "ties",
              .inputs = {{.shape = {3, 40}, .low = 0.0, .high = 1e-44}},
              .attrs = attrs(17, 1),
              .no_grad = {0}};
  OpCase many_ties = ties;
  many_ties.name = "many_ties";
  many_ties.inputs[0].shape = {3, 400};
  many_ties.attrs = attrs(300, 1);
  return {
      .cases = {of("last", {3, 10}, attrs(3, -1), {3, 3}),
                of("smallest", {3, 10}, attrs(3, 1, false), {3, 3}),
                of("first", {10, 4}, attrs(2, 0), {2, 4}),
                of("middle", {3, 7, 4}, attrs(5, 1), {3, 5, 4}),
                of("all", {3, 10}, attrs(10, 1), {3, 10}), of("one", {3, 10}, attrs(1, 1), {3, 1}),
                of("few_of_many", {3, 5000}, attrs(5, 1), {3, 5}),
                of("many_of_many", {2, 3000}, attrs(700, 1), {2, 700}),
                of("part_of_many", {2, 3000}, attrs(100, 1), {2, 100}),
                of("all_of_many", {2, 700}, attrs(700, 1, false), {2, 700}),
                of("none", {3, 4}, attrs(0, 1), {3, 0}), of("no_rows", {0, 4}, attrs(2, 1), {0, 2}),
                ties, many_ties},
      .rejects = {{"too_many", {{.shape = {3, 4}}}, attrs(5, 1), "at most the size"},
                  {"negative", {{.shape = {3, 4}}}, attrs(-1, 1), "at least 0"},
                  {"no_such_axis", {{.shape = {4}}}, attrs(1, 1), "there is no axis 1"},
                  {"doubles", {{.shape = {4}, .dtype = DType::f64}}, attrs(1, 0), "cast first"}},
  };
}

TEST(topk, takes_the_first_of_equals_and_nan_for_the_largest) {
  const Tensor x = tensor({6}, {1, NAN, 2, 2, NAN, 0});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto best = [&](bool largest) {
      return values_of<int32_t>(
          run_op("topk", ir::Attrs::of(TopkOptions{4, 0, largest}), {x}, kernel)[1]);
    };
    EXPECT_EQ(best(true), (std::vector<int32_t>{1, 4, 2, 3}));
    EXPECT_EQ(best(false), (std::vector<int32_t>{5, 0, 2, 3}));
  }
}

}  // namespace thimble::test::topk_test
