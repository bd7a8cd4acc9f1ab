// Recipes trained with and without a memory budget. Included by the files that list the recipes.
#pragma once

#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <string>
#include <tuple>
#include <vector>

#include "models/nearest_budget.h"

namespace thimble::train {
namespace {

using Case = std::tuple<const char*, Swap>;
class budget : public ::testing::TestWithParam<Case> {};

struct Trained {
  Plan plan;
  std::vector<double> losses;
  std::string weights;
  FitResult fit;
};

TrainerOptions options_of(const Recipe& recipe, int64_t memory_budget, Swap swap) {
  return {.optimizer = recipe.optimizer(),
          .ema_decay = recipe.ema_decay,
          .batch = 2,
          .memory_budget = memory_budget,
          .swap = swap,
          .seed = 3,
          .threads = 2};
}

int64_t set_aside_and_peak(const Plan& plan) {
  return plan.planned_peak_bytes + plan.input_pipeline_bytes + plan.reserved_bytes;
}

// Three steps, the last of a smaller batch, and an evaluation.
Trained trained(const Recipe& recipe, const TrainerOptions& options) {
  Trainer trainer(recipe.build(), options);
  Trained result{.plan = trainer.plan(), .losses = {}, .weights = {}, .fit = {}};
  result.fit = trainer.fit(recipe.data("", data::Split::train).take(5), {.epochs = 1});
  result.losses = {result.fit.epochs.back().train.loss,
                   trainer.evaluate(recipe.data("", data::Split::test).take(3)).loss};
  result.weights = trainer.weights_sha256();
  return result;
}

TEST_P(budget, is_kept_and_changes_no_bit) {
  const auto [name, swap] = GetParam();
  const Recipe& recipe = find_recipe(name);
  const Trained free = trained(recipe, options_of(recipe, 0, swap));
  const int64_t whole = set_aside_and_peak(free.plan);
  const int64_t least = test::nearest_budget(recipe.build(), options_of(recipe, 0, swap));
  ASSERT_GT(least, 0);
  ASSERT_LE(least, whole);
  constexpr int64_t kAmple = int64_t{1} << 40;  // no costly value is recomputed
  for (const int64_t wanted : {least, (least + whole) / 2, whole, kAmple}) {
    const Trained tight = trained(recipe, options_of(recipe, wanted, swap));
    EXPECT_LE(set_aside_and_peak(tight.plan), wanted);
    EXPECT_LE(tight.fit.measured_peak_bytes, wanted);
    EXPECT_EQ(tight.losses, free.losses);
    EXPECT_EQ(tight.weights, free.weights);
    if (wanted == kAmple) {
      EXPECT_GE(tight.plan.planned_peak_bytes, free.plan.planned_peak_bytes);
    } else if (swap == Swap::always && wanted < whole) {
      EXPECT_GT(tight.plan.swap_written_bytes, 0);
      EXPECT_GT(tight.fit.swap_written_bytes, 0);
      EXPECT_GT(tight.fit.swap_read_bytes, 0);
    } else if (swap == Swap::never) {
      EXPECT_EQ(tight.plan.swap_written_bytes, 0);
      EXPECT_EQ(tight.fit.swap_read_bytes, 0);
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  return std::string(std::get<0>(info.param)) +
         (std::get<1>(info.param) == Swap::never ? "" : "_with_swap");
}

}  // namespace
}  // namespace thimble::train
