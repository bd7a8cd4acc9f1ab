// A memory budget changes where values lie and how often they are computed, never what they are.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include "models/nearest_budget.h"

namespace thimble::train {
namespace {

class budget : public ::testing::TestWithParam<const char*> {};

struct Trained {
  Plan plan;
  std::vector<double> losses;
  std::string weights;
};

TrainerOptions options_of(const Recipe& recipe, int64_t memory_budget) {
  return {.optimizer = recipe.optimizer(),
          .ema_decay = recipe.ema_decay,
          .batch = 2,
          .memory_budget = memory_budget,
          .seed = 3,
          .threads = 2};
}

// Three steps, the last of a smaller batch.
Trained trained(const Recipe& recipe, int64_t memory_budget) {
  Trainer trainer(recipe.build(), options_of(recipe, memory_budget));
  Trained result{.plan = trainer.plan(), .losses = {}, .weights = {}};
  const FitResult fit = trainer.fit(recipe.data("", data::Split::train).take(5), {.epochs = 1});
  result.losses = {fit.epochs.back().train.loss};
  result.weights = trainer.weights_sha256();
  return result;
}

TEST_P(budget, is_kept_and_changes_no_bit) {
  const Recipe& recipe = find_recipe(GetParam());
  const Trained free = trained(recipe, 0);
  const int64_t least = test::nearest_budget(recipe.build(), options_of(recipe, 0));
  ASSERT_GT(least, 0);
  ASSERT_LE(least, free.plan.planned_peak_bytes);
  for (const int64_t wanted : {least, (least + free.plan.planned_peak_bytes) / 2}) {
    const Trained tight = trained(recipe, wanted);
    EXPECT_LE(tight.plan.planned_peak_bytes, wanted);
    EXPECT_EQ(tight.losses, free.losses);
    EXPECT_EQ(tight.weights, free.weights);
  }
}

INSTANTIATE_TEST_SUITE_P(recipes, budget,
                         ::testing::Values("vae", "lenet5", "mlp", "mobilenetv2", "unet_ddpm",
                                           "lstm"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace thimble::train
