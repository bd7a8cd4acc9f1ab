// Every recipe can be compiled and planned in 16 bits.
#include <gtest/gtest.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include "ir/graph.h"
#include "passes/passes.h"
#include "train/compile.h"

namespace thimble::precision_test {
namespace {

TEST(mixed_precision, is_offered_for_every_recipe) {
  for (const Recipe& recipe : recipes()) {
    const Graph g = recipe.build();
    for (const DType precision : {DType::bf16, DType::f16}) {
      const ir::Graph step = train::training_graph(
          passes::mixed_precision(g.ir(), precision),
          {.optimizer = recipe.optimizer(), .batch = 4, .precision = precision}, 4,
          train::StepKind::update);
      EXPECT_NO_THROW(ir::verify(step)) << recipe.name;
    }
    const Plan plan = plan_training(
        g, {.optimizer = recipe.optimizer(), .batch = 4, .precision = DType::bf16, .threads = 1});
    EXPECT_GT(plan.planned_peak_bytes, 0) << recipe.name;
  }
}

}  // namespace
}  // namespace thimble::precision_test
