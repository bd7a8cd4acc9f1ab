// A memory budget changes where values are kept and how often they are computed, never their bits.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "harness/error_of.h"
#include "harness/file_limit.h"
#include "io/temporary_folder.h"
#include "models/nearest_budget.h"
#include "train/budget_cases.h"
#include "train/state.h"

namespace thimble::train::budget_test {
namespace {

INSTANTIATE_TEST_SUITE_P(recipes, budget,
                         ::testing::Combine(::testing::Values("vae", "lenet5", "mlp"),
                                            ::testing::Values(Swap::never, Swap::always)),
                         name_of);

// Checkpoints, weights and other readers of tensors see the values in the swap file.
TEST(swapped_training, saves_and_resumes_as_if_everything_were_in_memory) {
  const test::TemporaryFolder folder;
  const Recipe& recipe = find_recipe("mlp");
  const data::Dataset data = recipe.data("", data::Split::train).take(6);
  const int64_t least = test::nearest_budget(recipe.build(), options_of(recipe, 0, Swap::always));
  const auto run = [&](int64_t budget, const std::string& resumed, const std::string& saved) {
    Trainer trainer(recipe.build(), options_of(recipe, budget, Swap::always));
    if (!resumed.empty()) trainer.resume(resumed);
    trainer.fit(data, {.epochs = 1});
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

// A named folder is used, or an error names it, even if the budget could be kept without a file.
TEST(swapped_training, refuses_a_named_folder_that_is_unsuitable) {
  const Recipe& recipe = find_recipe("mlp");
  for (const Swap swap : {Swap::automatic, Swap::always}) {
    for (const auto& [folder, why] :
         {std::pair("/nowhere/at/all", "cannot be made in /nowhere/at/all"),
          std::pair("/proc", "cannot be made in /proc"),
          std::pair("/dev/shm", "would lie in memory: /dev/shm")}) {
      for (const int64_t budget : {int64_t{1}, int64_t{1} << 30}) {
        TrainerOptions options = options_of(recipe, budget, swap);
        options.swap_dir = folder;
        const std::string said =
            test::error_of([&] { static_cast<void>(plan_training(recipe.build(), options)); });
        EXPECT_NE(said.find(why), std::string::npos) << said;
        EXPECT_NE(said.find("swap_dir"), std::string::npos) << said;
      }
    }
  }
}

// Sets where temporary files go, for as long as it lives.
class TemporaryFiles {
 public:
  explicit TemporaryFiles(const char* folder) {
    const char* const old = std::getenv("TMPDIR");
    if (old != nullptr) old_ = old;
    ::setenv("TMPDIR", folder, 1);
  }
  ~TemporaryFiles() {
    if (old_) {
      ::setenv("TMPDIR", old_->c_str(), 1);
    } else {
      ::unsetenv("TMPDIR");
    }
  }
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;

 private:
  std::optional<std::string> old_;
};

TEST(swapped_training, does_without_a_file_if_none_is_possible) {
  const Recipe& recipe = find_recipe("vae");
  TrainerOptions options = options_of(recipe, 0, Swap::never);
  const int64_t least = test::nearest_budget(recipe.build(), options);
  options.swap = Swap::automatic;
  for (const char* folder : {"/nowhere/at/all", "/dev/shm"}) {
    const TemporaryFiles elsewhere(folder);
    options.memory_budget = least;
    const Plan plan = Trainer(recipe.build(), options).plan();
    EXPECT_LE(plan.planned_peak_bytes, options.memory_budget);
    EXPECT_EQ(plan.swap_written_bytes, 0);
    options.memory_budget = least - 1;
    const std::string said = test::error_of([&] { Trainer(recipe.build(), options); });
    EXPECT_NE(said.find("No swap file: "), std::string::npos) << said;
    EXPECT_NE(said.find(folder), std::string::npos) << said;
    EXPECT_NE(said.find(std::to_string(least)), std::string::npos) << said;
    options.swap = Swap::always;
    EXPECT_NE(test::error_of([&] { Trainer(recipe.build(), options); }).find(folder),
              std::string::npos);
    options.swap = Swap::automatic;
  }
}

// No room to measure the disk (4 KiB), or none for the file of the plan.
TEST(swapped_training, does_without_a_file_for_which_there_is_no_room) {
  const Recipe& recipe = find_recipe("vae");
  const data::Dataset data = recipe.data("", data::Split::train).take(40);
  TrainerOptions options = options_of(recipe, 0, Swap::never);
  options.batch = 32;
  const int64_t least = test::nearest_budget(recipe.build(), options);
  options.swap = Swap::automatic;
  const auto trained = [&] {
    Trainer trainer(recipe.build(), options);
    trainer.fit(data, {.epochs = 1});
    return trainer.weights_sha256();
  };
  const std::string wanted = trained();
  for (const int64_t most : {4 << 10, 400 << 10}) {
    const test::FileLimit limit(most);
    const std::string needs = fmt::format("may make files of {} bytes", most);
    for (const int64_t budget : {int64_t{1}, least / 2}) {
      options.memory_budget = budget;
      const Plan plan = plan_training(recipe.build(), options);
      EXPECT_FALSE(plan.fits);
      EXPECT_EQ(plan.swap_file_bytes, 0);
      EXPECT_EQ(plan.nearest_feasible_bytes, least) << budget;
      EXPECT_NE(plan.no_swap.find(needs), std::string::npos) << plan.no_swap;
      const std::string said = test::error_of([&] { Trainer(recipe.build(), options); });
      EXPECT_NE(said.find("No swap file: " + plan.no_swap), std::string::npos) << said;
    }
    options.memory_budget = least;
    const Plan plan = plan_training(recipe.build(), options);
    EXPECT_TRUE(plan.fits);
    EXPECT_EQ(plan.nearest_feasible_bytes, least);
    EXPECT_EQ(trained(), wanted);
    options.swap = Swap::always;
    options.memory_budget = least / 2;
    EXPECT_NE(test::error_of([&] { Trainer(recipe.build(), options); }).find(needs),
              std::string::npos);
    options.swap = Swap::automatic;
  }
}

// A quota or another process takes the room that was free when the plan was made.
TEST(swapped_training, does_without_a_file_if_the_disk_fills_up_after_planning) {
  const Recipe& recipe = find_recipe("vae");
  TrainerOptions options = options_of(recipe, 0, Swap::never);
  const int64_t least = test::nearest_budget(recipe.build(), options);
  for (const Swap swap : {Swap::automatic, Swap::always}) {
    options.swap = swap;
    options.memory_budget = least * 3 / 4;
    State state(recipe.build().ir(), options);
    ASSERT_GT(state.plan().swap_file_bytes, 0);
    const test::FileLimit limit(4 << 10);
    const std::string said = test::error_of([&] { state.allocate(); });
    const bool asked = swap == Swap::always;
    EXPECT_EQ(said.find(asked ? "[swap file] needs" : "[memory budget] "), 0) << said;
    EXPECT_EQ(said.find("No swap file: needs") != std::string::npos, !asked) << said;
    const bool names_least = said.find(fmt::format("works: {} bytes", least)) != std::string::npos;
    EXPECT_EQ(names_least, !asked) << said;
  }
}

TEST(memory_budget, that_cannot_be_kept_is_refused_with_the_buffers_that_bind) {
  const Recipe& recipe = find_recipe("lenet5");
  const TrainerOptions options = options_of(recipe, 1, Swap::never);
  const Plan plan = plan_training(recipe.build(), options);
  const std::string said = test::error_of([&] { Trainer(recipe.build(), options); });
  const PlanBuffer* largest = nullptr;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.birth > plan.peak_step || buffer.death <= plan.peak_step) continue;
    if (largest == nullptr || buffer.bytes > largest->bytes) largest = &buffer;
  }
  ASSERT_NE(largest, nullptr);
  EXPECT_NE(said.find(", with " + largest->name + " ("), std::string::npos) << said;
  EXPECT_NE(said.find(plan.steps[static_cast<size_t>(plan.peak_step)].op), std::string::npos);
  EXPECT_NE(said.find(" B) and "), std::string::npos) << said;
}

// Measuring takes memory, too.
TEST(memory_budget, holds_while_the_swap_file_is_measured) {
  Graph graph;
  Value x = graph.input("x", {16});
  for (int layer = 0; layer < 8; ++layer) x = tanh(dense(x, {.units = 8}));
  graph.minimize(mse(dense(x, {.units = 4}), graph.label("y", {4}, DType::f32)));
  const std::vector<data::Field> fields = {{"x", {16}, DType::f32, false},
                                           {"y", {4}, DType::f32, true}};
  const data::Dataset data = data::in_memory(
      fields, {std::vector<float>(32 * 16, 0.5F), std::vector<float>(32 * 4, 1.0F)});
  TrainerOptions options{.optimizer = SGD{}, .batch = 32, .threads = 1};
  const int64_t least = test::nearest_budget(graph, options);
  for (int64_t more = 0; more <= 8 << 10; more += 1 << 10) {
    options.memory_budget = least + more;
    Trainer trainer(graph, options);
    EXPECT_LE(trainer.fit(data, {.epochs = 1}).measured_peak_bytes, options.memory_budget);
  }
}

TEST(memory_budget, below_zero_is_refused) {
  const Recipe& recipe = find_recipe("lenet5");
  EXPECT_NE(test::error_of([&] {
              Trainer(recipe.build(), options_of(recipe, -1, Swap::never));
            }).find("[memory_budget] expected a number of bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace thimble::train::budget_test
