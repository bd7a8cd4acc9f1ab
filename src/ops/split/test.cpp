#include <gtest/gtest.h>

#include "autodiff/autodiff.h"
#include "harness/op_cases.h"
#include "ir/reference.h"

namespace thimble::test::split_test {
namespace {

ir::Attrs into(int64_t axis, std::vector<int64_t> sizes) {
  return ir::Attrs::of(SplitOptions{axis, std::move(sizes)});
}

}  // namespace

THIMBLE_OP_CASES(split) {
  const TensorSpec x{.shape = {3, 6}};
  return {
      .cases = {{"halves", {x}, into(-1, {3, 3}), {{3, 3}, {3, 3}}},
                {"uneven", {x}, into(1, {1, 0, 5}), {{3, 1}, {3, 0}, {3, 5}}},
                {"rows", {x}, into(0, {1, 2}), {{1, 6}, {2, 6}}},
                {"middle", {{.shape = {2, 4, 3}}}, into(1, {1, 3}), {{2, 1, 3}, {2, 3, 3}}},
                {"one_part", {x}, into(0, {3}), {{3, 6}}},
                {"empty", {{.shape = {0, 4}}}, into(1, {2, 2}), {{0, 2}, {0, 2}}},
                {"integers",
                 {{.shape = {4, 2}, .dtype = DType::i32}},
                 into(0, {1, 3}),
                 {{1, 2}, {3, 2}}}},
      .rejects = {{"too_small", {x}, into(1, {3, 2}), "do not make up the axis"},
                  {"too_large", {x}, into(1, {3, 4}), "do not make up the axis"},
                  {"negative", {x}, into(1, {7, -1}), "do not make up the axis"},
                  {"no_parts", {x}, into(1, {}), "1 to 32 parts"},
                  {"no_such_axis", {x}, into(2, {3}), "there is no axis 2"}},
  };
}

TEST(split, gives_zeros_for_parts_that_nothing_reads) {
  Graph g;
  const Value x = g.parameter("x", {6}, init::zeros());
  const Value seed = g.constant("seed", {2}, {5.0F, 7.0F});
  const auto parts = split(x, 3);
  const autodiff::Cotangent cotangent{parts[1], seed};
  const int wanted[] = {x.id()};
  const auto gradients = autodiff::append_gradients(g.ir(), {&cotangent, 1}, wanted);
  const auto zeros = ir::to_bytes(std::vector<float>(6), ir::Precision::f32);
  const auto values = ir::run_reference(g.ir(), {{x.id(), zeros}}, ir::Precision::f32);
  const auto& dx = values[static_cast<size_t>(gradients[0].gradient)];
  EXPECT_EQ(ir::to_doubles(dx, ir::Precision::f32), (std::vector<double>{0, 0, 5, 7, 0, 0}));
}

TEST(split, cuts_into_equal_parts_or_says_why_not) {
  Graph g;
  const Value x = g.input("x", {6});
  EXPECT_EQ(split(x, 2).size(), 2U);
  EXPECT_EQ(to_string(split(x, 3)[2].shape()), "[N, 2]");
  EXPECT_THROW(split(x, 4), Error);
  EXPECT_THROW(split(x, 0), Error);
  EXPECT_THROW(split(x, 2, 2), Error);
}

}  // namespace thimble::test::split_test
