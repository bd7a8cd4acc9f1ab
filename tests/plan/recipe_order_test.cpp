// The orders of our recipes' training steps.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include "passes/passes.h"
#include "plan/order/order.h"
#include "plan/remat/recompute.h"
#include "recipes/gpt.h"
#include "train/compile.h"

namespace thimble::plan::recipe_order_test {
namespace {

// The peak of an order must stay below this multiple of its bound.
constexpr double kMostAboveBound = 1.01;

ir::Graph step_of(const Graph& model, const Optimizer& optimizer, int64_t batch) {
  return passes::optimize(train::training_graph(
      model.ir(), {.optimizer = optimizer, .batch = batch}, batch, train::StepKind::update));
}

void expect_near_the_bound(const ir::Graph& step) {
  const OrderProblem problem(step, {});
  const NodeOrder order = best_order(problem);
  EXPECT_LE(order.peak_bytes, peak_of(problem, problem.natural()));
  EXPECT_LE(static_cast<double>(order.peak_bytes),
            kMostAboveBound * static_cast<double>(order.bound_bytes));
  const ir::Graph ordered = order_nodes(step);
  EXPECT_EQ(live_peak_bytes(ordered), order.peak_bytes);
  // Also with recomputed norms and activations.
  EXPECT_LE(live_peak_bytes(recompute(orders_of(step), {})), order.peak_bytes);
}

class recipe_order : public ::testing::TestWithParam<const char*> {};

TEST_P(recipe_order, is_near_the_bound) {
  const Recipe& recipe = find_recipe(GetParam());
  expect_near_the_bound(step_of(recipe.build(), recipe.optimizer(), recipe.batch));
}

INSTANTIATE_TEST_SUITE_P(recipes, recipe_order,
                         ::testing::Values("vae", "lenet5", "mlp", "mobilenetv2", "resnet18",
                                           "lstm", "gpt", "unet_ddpm"),
                         [](const auto& info) { return std::string(info.param); });

TEST(recipe_order, of_gpt_with_24_layers_is_near_the_bound) {
  expect_near_the_bound(step_of(models::gpt_graph(24), AdamW{}, 4));
}

}  // namespace
}  // namespace thimble::plan::recipe_order_test
