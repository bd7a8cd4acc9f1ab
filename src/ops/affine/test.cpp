#include <gtest/gtest.h>

#include "harness/op_run.h"
#include "ops/affine/attrs.h"
#include "ops/families/unary/unary_cases.h"

namespace thimble::test::affine_test {
namespace {

using Floats = std::vector<float>;

TEST(affine, numbers_and_tensors_are_operands) {
  Graph g;
  const Value x = g.constant("x", {3}, {1.0F, 2.0F, -4.0F});
  const Value y = g.constant("y", {3}, {2.0F, 4.0F, 8.0F});
  EXPECT_EQ(evaluate(x * 2.0), (Floats{2.0F, 4.0F, -8.0F}));
  EXPECT_EQ(evaluate(2 * x), (Floats{2.0F, 4.0F, -8.0F}));
  EXPECT_EQ(evaluate(x + 1.0), (Floats{2.0F, 3.0F, -3.0F}));
  EXPECT_EQ(evaluate(1 + x), (Floats{2.0F, 3.0F, -3.0F}));
  EXPECT_EQ(evaluate(x - 1.0), (Floats{0.0F, 1.0F, -5.0F}));
  EXPECT_EQ(evaluate(1.0 - x), (Floats{0.0F, -1.0F, 5.0F}));
  EXPECT_EQ(evaluate(x / 2.0), (Floats{0.5F, 1.0F, -2.0F}));
  EXPECT_EQ(evaluate(2.0 / x), (Floats{2.0F, 1.0F, -0.5F}));
  EXPECT_EQ(evaluate(1.0 / x), (Floats{1.0F, 0.5F, -0.25F}));
  EXPECT_EQ(evaluate(-x), (Floats{-1.0F, -2.0F, 4.0F}));
  EXPECT_EQ(evaluate(x + y), (Floats{3.0F, 6.0F, 4.0F}));
  EXPECT_EQ(evaluate(x - y), (Floats{-1.0F, -2.0F, -12.0F}));
  EXPECT_EQ(evaluate(x * y), (Floats{2.0F, 8.0F, -32.0F}));
  EXPECT_EQ(evaluate(x / y), (Floats{0.5F, 0.5F, -0.5F}));
  EXPECT_EQ(evaluate(pow(x, 2.0)), (Floats{1.0F, 4.0F, 16.0F}));
  EXPECT_EQ(evaluate(pow(x, x)), (Floats{1.0F, 4.0F, 1.0F / 256}));
}

}  // namespace

THIMBLE_OP_CASES(affine) {
  return {
      .cases = unary_cases({}) +
               unary_cases({}, ir::Attrs::of(AffineAttrs{.scale = 1.5, .shift = -0.25}), "_both"),
      .rejects = unary_rejects()};
}

}  // namespace thimble::test::affine_test
