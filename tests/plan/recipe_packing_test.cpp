// The training steps of all recipes are packed within 1 % of the largest sum alive at once.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <set>

#include "passes/passes.h"
#include "plan/arena.h"
#include "plan/order/order.h"
#include "plan/pack/pack.h"
#include "plan/remat/recompute.h"
#include "train/compile.h"

namespace thimble::plan::recipe_packing_test {
namespace {

constexpr double kMostAboveBound = 1.01;

class recipe_packing : public ::testing::TestWithParam<const char*> {};

void expect_packed(const ir::Graph& step, const ArenaOptions& options) {
  const Plan plan = plan_arena(step, options).plan;
  std::vector<Buffer> buffers;
  int64_t arena_bytes = 0;
  for (const PlanBuffer& b : plan.buffers) {
    buffers.push_back({b.birth, b.death, aligned(b.bytes)});
    arena_bytes = std::max(arena_bytes, b.offset + b.bytes);
  }
  ASSERT_GT(buffers.size(), 10U);
  EXPECT_EQ(arena_bytes, plan.arena_bytes);
  const auto bound = static_cast<double>(largest_live_bytes(buffers));
  EXPECT_LE(static_cast<double>(arena_bytes), kMostAboveBound * bound);
  EXPECT_LE(static_cast<double>(plan.planned_peak_bytes),
            kMostAboveBound * static_cast<double>(plan.lower_bound_bytes));
}

TEST_P(recipe_packing, is_within_one_percent_of_the_bound) {
  const Recipe& recipe = find_recipe(GetParam());
  const Graph model = recipe.build();
  for (const int64_t batch : std::set<int64_t>{1, 3, 8, recipe.batch}) {
    SCOPED_TRACE(batch);
    const ir::Graph step =
        train::training_graph(model.ir(), {.optimizer = recipe.optimizer(), .batch = batch}, batch,
                              train::StepKind::update);
    for (const int threads : {1, 4}) {
      const ArenaOptions options{.threads = threads};
      const ir::Graph natural = passes::optimize(step);
      expect_packed(order_nodes(natural, options), options);
      expect_packed(recompute(orders_of(natural, options), {.arena = options}), options);
    }
  }
}

TEST_P(recipe_packing, is_within_one_percent_of_the_bound_in_a_budget) {
  const Recipe& recipe = find_recipe(GetParam());
  const Graph model = recipe.build();
  const ir::Graph step = passes::optimize(
      train::training_graph(model.ir(), {.optimizer = recipe.optimizer(), .batch = recipe.batch},
                            recipe.batch, train::StepKind::update));
  const int64_t half = live_peak_bytes(order_nodes(step)) / 2;
  expect_packed(recompute(orders_of(step), {.target_bytes = half, .any_op = true}), {});
}

std::vector<const char*> names() {
  std::vector<const char*> names;
  for (const Recipe& recipe : recipes()) names.push_back(recipe.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(recipes, recipe_packing, ::testing::ValuesIn(names()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace thimble::plan::recipe_packing_test
