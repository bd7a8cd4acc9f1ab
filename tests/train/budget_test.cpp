// A memory budget changes where values lie and how often they are computed, never what they are.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <filesystem>

#include "io/temporary_folder.h"
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
  constexpr int64_t kConstants = 1024;  // of programs for smaller last batches
  const int64_t whole = free.plan.planned_peak_bytes + free.plan.input_pipeline_bytes + kConstants;
  const int64_t least = test::nearest_budget(recipe.build(), options_of(recipe, 0, swap));
  ASSERT_GT(least, 0);
  ASSERT_LE(least, whole);
  for (const int64_t wanted : {least, (least + whole) / 2}) {
    const Trained tight = trained(recipe, options_of(recipe, wanted, swap));
    EXPECT_LE(tight.plan.planned_peak_bytes + tight.plan.input_pipeline_bytes, wanted);
    EXPECT_LE(tight.fit.measured_peak_bytes, wanted);
    EXPECT_EQ(tight.losses, free.losses);
    EXPECT_EQ(tight.weights, free.weights);
    if (swap == Swap::always) {
      EXPECT_GT(tight.plan.swap_written_bytes, 0);
      EXPECT_GT(tight.fit.swap_written_bytes, 0);
      EXPECT_GT(tight.fit.swap_read_bytes, 0);
    } else if (swap == Swap::never) {
      EXPECT_EQ(tight.plan.swap_written_bytes, 0);
      EXPECT_EQ(tight.fit.swap_read_bytes, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(recipes, budget,
                         ::testing::Combine(::testing::Values("vae", "lenet5", "mlp", "mobilenetv2",
                                                              "unet_ddpm", "lstm"),
                                            ::testing::Values(Swap::never, Swap::always)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) == Swap::never ? "" : "_with_swap");
                         });

// A checkpoint, its weights and all that asks for tensors see what lies in the swap file.
TEST(swapped_training, saves_and_resumes_as_if_everything_lay_in_memory) {
  const test::TemporaryFolder folder;
  const Recipe& recipe = find_recipe("mlp");
  const data::Dataset data = recipe.data("", data::Split::train).take(6);
  const int64_t least = test::nearest_budget(recipe.build(), options_of(recipe, 0, Swap::always));
  const auto run = [&](int64_t budget, const std::string& resumed, const std::string& saved) {
    Trainer trainer(recipe.build(), options_of(recipe, budget, Swap::always));
    if (!resumed.empty()) trainer.resume(resumed);
    trainer.fit(data, {.epochs = resumed.empty() ? 1 : 2});
    trainer.save(saved);
    return std::pair(trainer.weights_sha256(), trainer.parameter(trainer.parameter_names()[0]));
  };
  const auto free = run(0, "", folder / "free");
  const auto swapped = run(least, "", folder / "swapped");
  EXPECT_EQ(free, swapped);
  EXPECT_EQ(run(least, folder / "free", folder / "a"), run(0, folder / "swapped", folder / "b"));
}

TEST(swapped_training, refuses_a_folder_that_takes_no_file) {
  const Recipe& recipe = find_recipe("mlp");
  TrainerOptions options = options_of(recipe, 0, Swap::always);
  options.memory_budget = test::nearest_budget(recipe.build(), options);
  options.swap_dir = "/nowhere/at/all";
  EXPECT_THROW(Trainer(recipe.build(), options), Error);
}

TEST(swapped_training, does_without_a_file_where_none_can_be_and_there_are_other_ways) {
  const Recipe& recipe = find_recipe("vae");
  TrainerOptions options = options_of(recipe, 0, Swap::never);
  options.memory_budget = test::nearest_budget(recipe.build(), options);
  options.swap = Swap::automatic;
  options.swap_dir = "/nowhere/at/all";
  EXPECT_LE(Trainer(recipe.build(), options).plan().planned_peak_bytes, options.memory_budget);
}

}  // namespace
}  // namespace thimble::train
