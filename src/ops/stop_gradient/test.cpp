#include <gtest/gtest.h>

#include "autodiff/autodiff.h"
#include "harness/op_cases.h"

namespace thimble::test::stop_gradient_test {

THIMBLE_OP_CASES(stop_gradient) {
  return {
      .cases =
          {{.name = "matrix", .inputs = {{.shape = {3, 4}}}, .expect = {{3, 4}}, .no_grad = {0}},
           {.name = "integers", .inputs = {{.shape = {3}, .dtype = DType::i32}}, .expect = {{3}}},
           {.name = "bits", .inputs = {{.shape = {9}, .dtype = DType::boolean}}},
           {.name = "empty", .inputs = {{.shape = {0, 2}}}, .no_grad = {0}}},
  };
}

TEST(stop_gradient, lets_the_gradient_of_other_ways_through) {
  Graph g;
  const Value w = g.parameter("w", {1}, init::ones());
  g.minimize(sum(mul(w, stop_gradient(w))));
  const auto gradients = autodiff::append_loss_gradients(g.ir());
  ASSERT_EQ(gradients.size(), 1U);
  EXPECT_GE(gradients[0].gradient, 0);
  Graph stopped;
  stopped.minimize(sum(stop_gradient(stopped.parameter("w", {1}, init::ones()))));
  EXPECT_EQ(autodiff::append_loss_gradients(stopped.ir())[0].gradient, -1);
}

// sum_squares has no gradient, and needs none by what is stopped before it.
TEST(stop_gradient, makes_a_constant_for_ops_without_gradients) {
  Graph g;
  const Value w = g.parameter("w", {3}, init::ones());
  g.minimize(sum(mul(w, sum_squares(stop_gradient(w)))));
  EXPECT_GE(autodiff::append_loss_gradients(g.ir())[0].gradient, 0);
}

}  // namespace thimble::test::stop_gradient_test
