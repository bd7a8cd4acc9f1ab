// A memory budget changes where values lie and how often they are computed, never what they are.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <filesystem>

#include "io/temporary_folder.h"
#include "models/nearest_budget.h"
#include "train/budget_cases.h"

namespace thimble::train {
namespace {

INSTANTIATE_TEST_SUITE_P(recipes, budget,
                         ::testing::Combine(::testing::Values("vae", "lenet5", "mlp"),
                                            ::testing::Values(Swap::never, Swap::always)),
                         name_of);

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
