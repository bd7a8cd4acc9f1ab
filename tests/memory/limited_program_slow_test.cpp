// Every recipe is trained from a program file, at its own batch and several budgets, in a process
// whose address space is limited to the budget and one published constant.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thimble/compiled_training.h>
#include <thimble/error.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include <algorithm>
#include <string>

#include "io/temporary_folder.h"
#include "memory/limited_run.h"
#include "models/nearest_budget.h"

namespace thimble::limited_program_test {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kThreads = 3;  // a worker of the pool, the loader's, the swap file's
constexpr int64_t kSteps = 2;    // as limited_training takes

TrainerOptions options_of(const Recipe& recipe, int64_t budget, Swap swap) {
  return {.optimizer = recipe.optimizer(),
          .ema_decay = recipe.ema_decay,
          .batch = recipe.batch,
          .memory_budget = budget,
          .swap = swap,
          .threads = 2};
}

struct Task {
  const Recipe& recipe;
  int64_t budget;
  Swap swap;
  int64_t hold = 0;  // bytes beside the training
};

class limited_program : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (THIMBLE_SANITIZED) GTEST_SKIP() << "a sanitizer takes addresses of its own";
    published_ = test::published_sizes();
  }

  // What the process may take.
  [[nodiscard]] int64_t limit(int64_t budget) const {
    return budget + published_.program + published_.of_program + kThreads * published_.thread;
  }

  // Trains from the file of compile.
  [[nodiscard]] test::LimitedOutcome run(const Task& task) const {
    return test::train_limited({.recipe = task.recipe.name,
                                .batch = task.recipe.batch,
                                .budget = task.budget,
                                .address_limit = limit(task.budget),
                                .program = published_.program,
                                .hold = task.hold,
                                .file = file()});
  }

  void compile(const Task& task) const {
    const Recipe& recipe = task.recipe;
    CompiledTraining(recipe.build(), options_of(recipe, task.budget, task.swap),
                     {.samples = recipe.batch * kSteps - 1, .test_samples = recipe.batch + 1})
        .save(file());
  }

  // The least budget of a program file. Its tables may need more than the step alone.
  [[nodiscard]] int64_t least_budget(const Recipe& recipe) const {
    const int64_t step = plan_training(recipe.build(), options_of(recipe, 1, Swap::automatic))
                             .nearest_feasible_bytes;
    try {
      compile({recipe, step, Swap::automatic});
    } catch (const Error& error) {
      // Measured times decide what is swapped, and so the length of the tables.
      return test::named_budget(error.what()) + kMiB / 16;
    }
    return step;
  }

  // Trains and checks the figures; prints a line for bench/RESULTS.md.
  [[nodiscard]] test::LimitedOutcome train(const Task& task) const {
    compile(task);
    test::LimitedOutcome outcome = run(task);
    EXPECT_EQ(outcome.code, 0) << "budget " << task.budget << ": " << outcome.text;
    if (outcome.code != 0) return outcome;
    SCOPED_TRACE(outcome.text);
    const auto& figures = outcome.figures;
    EXPECT_LE(figures.at("measured"), task.budget);
    EXPECT_LE(figures.at("allocated"), task.budget + published_.of_program);
    fmt::print("{} {}: budget {}, allocated {} ({} beside it), addresses {}, limit {}\n",
               task.recipe.name, task.swap == Swap::always ? "always swap" : "auto swap",
               task.budget, figures.at("allocated"), figures.at("allocated") - task.budget,
               figures.at("addresses"), limit(task.budget));
    return outcome;
  }

  [[nodiscard]] std::string file() const { return folder_ / "step.thimble"; }

  test::TemporaryFolder folder_;
  test::PublishedSizes published_;
};

TEST_P(limited_program, trains_in_its_budget_and_one_published_constant) {
  const Recipe& recipe = find_recipe(GetParam());
  const Plan ample = plan_training(recipe.build(), options_of(recipe, 0, Swap::automatic));
  const int64_t low = least_budget(recipe);
  const int64_t most =
      std::max(low, ample.planned_peak_bytes + ample.input_pipeline_bytes + ample.reserved_bytes);
  const int64_t middle = low + (most - low) / 2;
  const std::string weights = train({recipe, middle, Swap::always}).weights;
  test::LimitedOutcome honest;
  for (const int64_t budget : {low, middle, most}) {
    honest = train({recipe, budget, Swap::automatic});
    ASSERT_EQ(honest.code, 0);
    EXPECT_EQ(honest.weights, weights) << "budget " << budget;
  }
  // The limit works: the last training, holding a mebibyte more than is left, is refused.
  const int64_t spare = limit(most) - honest.figures.at("addresses");
  const test::LimitedOutcome refused = run({recipe, most, Swap::automatic, spare + kMiB});
  EXPECT_NE(refused.code, 0) << refused.text;
}

INSTANTIATE_TEST_SUITE_P(recipes, limited_program,
                         testing::Values("vae", "lenet5", "mlp", "mobilenetv2", "resnet18", "lstm",
                                         "gpt", "unet_ddpm"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace thimble::limited_program_test
