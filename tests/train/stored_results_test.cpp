// Losses and metrics that are parameters themselves, which the step then changes.
#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include "ops/families/builder/compose.h"
#include "passes/passes.h"

namespace thimble::stored_results_test {
namespace {

data::Dataset samples() {
  return data::in_memory({{"x", {3}}}, {Array(std::vector<float>(48, 0.5F), {16, 3})});
}

// The loss is w itself: its gradient is 1.
TEST(stored_results, are_those_before_the_update) {
  Graph g;
  const Value x = g.input("x", {3});
  const Value w = g.parameter("w", {}, init::constant(3.0));
  const Value v = g.parameter("v", {1}, init::constant(5.0));
  g.minimize(w);
  g.metric("w", w);
  g.metric("v", reshape(v, {}));
  g.metric("both", add(w, add(reshape(v, {}), mul(mean(x), ops::number(x, 0.0)))));
  for (const int64_t parts : {1, 2}) {
    Trainer trainer(g, {.optimizer = SGD{.lr = 1.0},
                        .objectives = {{.loss = "both", .parameters = "v"}},
                        .batch = 16,
                        .micro_batches = parts,
                        .threads = 1});
    for (int step = 0; step < 3; ++step) {
      const Evaluation result = trainer.step(samples());
      EXPECT_EQ(result.loss, 3.0 - step);
      EXPECT_EQ(result.metrics.at("w"), 3.0 - step);
      EXPECT_EQ(result.metrics.at("v"), 5.0 - step);
      EXPECT_EQ(trainer.parameter("w"), Array(std::vector{2.0F - static_cast<float>(step)}, {}));
    }
    EXPECT_EQ(trainer.evaluate(samples()).loss, 0.0);
  }
}

// Copies are taken where the value is computed, before another node updates it.
TEST(stored_results, are_copied_where_they_are_computed) {
  Graph g;
  const Value x = g.input("x", {3});
  const Value y = batch_norm(x, {.name = "norm"});
  const Value mean_before = g.ir().find_source("norm.running_mean");
  g.minimize(mean(y));
  g.ir().metrics.emplace_back("before", mean_before.id());
  const ir::Graph copied = passes::copy_stored_results(g.ir());
  ir::verify(copied);
  const int copy = copied.metrics[0].second;
  EXPECT_EQ(copied.data(copy).producer, 0);
  EXPECT_EQ(copied.data(copied.nodes[0].inputs[0]).name, "norm.running_mean");
  EXPECT_EQ(ir::text(passes::copy_stored_results(copied)), ir::text(copied));
}

}  // namespace
}  // namespace thimble::stored_results_test
