// A training takes as many micro-batches as its budget needs.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include "harness/error_of.h"
#include "models/nearest_budget.h"

namespace thimble::train::micro_batch_budget_test {
namespace {

TrainerOptions options_of(int64_t budget) {
  return {
      .batch = 32, .memory_budget = budget, .swap = Swap::never, .micro_batches = 0, .threads = 1};
}

TEST(micro_batches, are_not_used_if_the_budget_is_kept_without) {
  const Graph model = find_recipe("lenet5").build();
  const Plan free = plan_training(model, {.batch = 32, .threads = 1});
  EXPECT_EQ(plan_training(model, options_of(0)).micro_batches, 1);
  const Plan plan = plan_training(model, options_of(free.planned_peak_bytes * 2));
  EXPECT_EQ(plan.micro_batches, 1);
  EXPECT_TRUE(plan.fits);
}

TEST(micro_batches, are_as_many_as_a_budget_needs_and_the_table_says_so) {
  const Graph model = find_recipe("lenet5").build();
  TrainerOptions whole = options_of(1);
  whole.micro_batches = 1;
  const int64_t least = plan_training(model, whole).nearest_feasible_bytes;
  const Plan plan = plan_training(model, options_of(least * 5 / 6));
  EXPECT_TRUE(plan.fits);
  EXPECT_LE(plan.planned_peak_bytes, least * 5 / 6);
  EXPECT_GT(plan.micro_batches, 1);
  EXPECT_EQ(plan.batch, 32);
  ASSERT_GT(plan.strategies.size(), 1U);
  EXPECT_EQ(plan.strategies[1].name, "micro-batches");
  EXPECT_EQ(plan.strategies[0].left_bytes - plan.strategies[1].saved_bytes,
            plan.strategies[1].left_bytes);
  // It trains.
  Trainer trainer(model, options_of(least * 5 / 6));
  const FitResult fit = trainer.fit(find_recipe("lenet5").data("", data::Split::train).take(40));
  EXPECT_EQ(fit.steps, 2);
}

TEST(micro_batches, are_not_chosen_if_they_would_change_the_training) {
  const Graph model = find_recipe("vae").build();  // has batch norms
  TrainerOptions options = options_of(1);
  EXPECT_EQ(plan_training(model, options).micro_batches, 1);
  options.split_batch_norm = true;
  EXPECT_GT(plan_training(model, options).micro_batches, 1);
}

}  // namespace
}  // namespace thimble::train::micro_batch_budget_test
