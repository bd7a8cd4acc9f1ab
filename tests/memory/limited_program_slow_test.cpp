// Every recipe is trained from a program file, at its own batch and several budgets, in a process
// whose address space is limited to the budget and one published constant.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include <algorithm>
#include <string>
#include <utility>

#include "io/temporary_folder.h"
#include "memory/limited_run.h"
#include "models/nearest_budget.h"
#include "train/state.h"

namespace thimble::limited_program_test {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
// Of the published bytes of the program, for what malloc keeps beside what it handed out.
constexpr int64_t kMalloc = 2 * kMiB;
constexpr int64_t kThreads = 3;  // a worker of the pool, the loader's, the swap file's

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

  // Bytes that the process may take.
  [[nodiscard]] int64_t limit(int64_t budget) const {
    return budget + published_.program + kThreads * published_.thread;
  }

  // Trains from the file of compile.
  [[nodiscard]] test::LimitedOutcome run(const Task& task) const {
    return test::train_limited({.recipe = task.recipe.name,
                                .batch = task.recipe.batch,
                                .budget = task.budget,
                                .address_limit = limit(task.budget),
                                .program = published_.program - kMalloc,
                                .hold = task.hold,
                                .file = file()});
  }

  [[nodiscard]] static CompileFor data_of(const Recipe& recipe) {
    return {.samples = recipe.batch + 1, .test_samples = recipe.batch + 1, .recipe = recipe.name};
  }

  // Writes the file; its plan. All budgets share what searches found. Two steps are rehearsed, with
  // all their transfers: whether the times are steady makes no difference here.
  Plan compile(const Task& task) {
    const Recipe& recipe = task.recipe;
    const train::TrainingProgram compiled = train::compiled_programs(
        recipe.build().ir(), options_of(recipe, task.budget, task.swap), data_of(recipe), &memos_,
        [](auto& session, const auto& file) { return exec::rehearse_for(0.0, session, file); });
    train::write_training(compiled, file());
    return compiled.plan;
  }

  // The budget that a refusal names.
  [[nodiscard]] int64_t least_budget(const Recipe& recipe, Swap swap) {
    try {
      compile({recipe, 1, swap});
    } catch (const Error& error) {
      return test::named_budget(error.what());
    }
    return 0;
  }

  // Trains and checks the figures; prints a line for bench/RESULTS.md.
  [[nodiscard]] test::LimitedOutcome train(const Task& task) {
    compile(task);
    test::LimitedOutcome outcome = run(task);
    EXPECT_EQ(outcome.code, 0) << "budget " << task.budget << ": " << outcome.text;
    if (outcome.code != 0) return outcome;
    SCOPED_TRACE(outcome.text);
    const auto& figures = outcome.figures;
    EXPECT_LE(figures.at("measured"), task.budget);
    EXPECT_LE(figures.at("allocated"), task.budget);
    fmt::print("{} {}: budget {}, allocated {}, addresses {}, limit {}\n", task.recipe.name,
               task.swap == Swap::always ? "always swap" : "auto swap", task.budget,
               figures.at("allocated"), figures.at("addresses"), limit(task.budget));
    return outcome;
  }

  // The command line trains in the same limit.
  void train_by_command(const Task& task) const {
    const std::string samples = std::to_string(task.recipe.batch + 1);
    const test::LimitedOutcome outcome = test::run_limited(
        {THIMBLE_COMMAND, "train", file(), "--epochs", "1", "--limit-train", samples,
         "--limit-test", samples, "--out", folder_ / "out", "--swap-dir", folder_.path(), "--json"},
        limit(task.budget));
    EXPECT_EQ(outcome.code, 0) << "budget " << task.budget << ": " << outcome.text;
    EXPECT_THAT(outcome.text, testing::HasSubstr("\"weights_sha256\""));
  }

  [[nodiscard]] std::string file() const { return folder_ / "step.thimble"; }

  test::TemporaryFolder folder_;
  test::PublishedSizes published_;
  train::State::Memos memos_;
};

TEST_P(limited_program, trains_in_its_budget_and_one_published_constant) {
  const bool has_command = THIMBLE_COMMAND[0] != '\0';
  const Recipe& recipe = find_recipe(GetParam());
  const Plan ample = compile({recipe, 0, Swap::automatic});
  const int64_t sum = ample.planned_peak_bytes + ample.input_pipeline_bytes + ample.reserved_bytes;
  const int64_t swapping = least_budget(recipe, Swap::always);
  const int64_t least = least_budget(recipe, Swap::automatic);
  ASSERT_GT(least, 0);
  EXPECT_LE(least, swapping);
  const int64_t most = std::max(swapping, sum);
  const int64_t middle = least + (most - least) / 2;
  test::LimitedOutcome honest;
  std::string weights;
  // In the most memory no step swaps, whatever was asked for.
  for (const auto& [budget, swap] :
       {std::pair(swapping, Swap::always),
        std::pair(swapping + (most - swapping) / 2, Swap::always),
        std::pair(least, Swap::automatic), std::pair(middle, Swap::automatic),
        std::pair(most, Swap::automatic)}) {
    honest = train({recipe, budget, swap});
    ASSERT_EQ(honest.code, 0);
    if (weights.empty()) weights = honest.weights;
    EXPECT_EQ(honest.weights, weights) << "budget " << budget;
    if (has_command && budget == least && swap == Swap::automatic)
      train_by_command({recipe, budget, swap});
  }
  // The limit works: the last training, holding a mebibyte more than is left, is refused.
  const int64_t spare = limit(most) - honest.figures.at("addresses");
  const test::LimitedOutcome refused = run({recipe, most, Swap::automatic, spare + kMiB});
  EXPECT_NE(refused.code, 0) << refused.text;
  if (!has_command) GTEST_SKIP() << "built without the command line, which was to train, too";
}

INSTANTIATE_TEST_SUITE_P(recipes, limited_program,
                         testing::Values("vae", "lenet5", "mlp", "mobilenetv2", "resnet18", "lstm",
                                         "gpt", "unet_ddpm"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace thimble::limited_program_test
