// Every recipe is trained at several budgets in a process whose address space is limited to the
// budget and the published memory of the program itself.
#include <gtest/gtest.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include <ostream>
#include <set>

#include "memory/limited_run.h"
#include "train/state.h"

namespace thimble::limited_slow_test {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kThreads = 3;  // a worker of the pool, the loader's, the swap file's

struct Case {
  const char* recipe;
  int64_t batch;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.recipe; }

// The training that limited_training compiles, without a budget.
TrainerOptions options_of(const Case& c) {
  const Recipe& recipe = find_recipe(c.recipe);
  return {.optimizer = recipe.optimizer(),
          .ema_decay = recipe.ema_decay,
          .batch = c.batch,
          .threads = 2};
}

class limited : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (THIMBLE_SANITIZED) GTEST_SKIP() << "a sanitizer takes addresses of its own";
    published_ = test::published_sizes();
  }

  [[nodiscard]] int64_t structures() const { return published_.structures.at(GetParam().recipe); }

  // The limit of a process whose training needs `bytes`.
  [[nodiscard]] int64_t limit(int64_t bytes) const {
    return bytes + published_.program + structures() + kThreads * published_.thread;
  }

  [[nodiscard]] test::LimitedOutcome train(int64_t budget, int64_t address_limit,
                                           int64_t hold = 0) const {
    return test::train_limited({.recipe = GetParam().recipe,
                                .batch = GetParam().batch,
                                .budget = budget,
                                .address_limit = address_limit,
                                .program = published_.program,
                                .hold = hold});
  }

  test::PublishedSizes published_;
};

TEST_P(limited, trains_within_its_budget_and_the_published_sizes) {
  const Plan plan = plan_training(find_recipe(GetParam().recipe).build(), options_of(GetParam()));
  const int64_t most = plan.planned_peak_bytes + plan.input_pipeline_bytes;
  const int64_t least = plan.nearest_feasible_bytes;
  const int64_t middle = least + (most - least) / 2;
  std::string weights;
  for (const int64_t budget : std::set<int64_t>{least, middle, std::max(most, least)}) {
    const test::LimitedOutcome run = train(budget, limit(budget));
    ASSERT_EQ(run.code, 0) << "budget " << budget << ": " << run.text;
    SCOPED_TRACE(run.text);
    EXPECT_LE(run.figures.at("measured"), budget);
    EXPECT_LE(run.figures.at("allocated"), budget + structures());
    if (weights.empty()) weights = run.weights;
    EXPECT_EQ(run.weights, weights) << "budget " << budget;
  }
}

// Without a budget, because the plan, and so the memory of a run, is then always the same.
TEST_P(limited, a_mebibyte_more_than_published_is_refused) {
  const Graph graph = find_recipe(GetParam().recipe).build();
  const Plan plan = train::State(graph.ir(), options_of(GetParam())).plan();
  const int64_t most = limit(plan.planned_peak_bytes + plan.input_pipeline_bytes);
  const test::LimitedOutcome honest = train(0, most);
  ASSERT_EQ(honest.code, 0) << honest.text;
  const int64_t spare = most - honest.figures.at("addresses");
  EXPECT_GT(spare, 0);
  const test::LimitedOutcome refused = train(0, most, spare + kMiB);
  EXPECT_NE(refused.code, 0) << refused.text;
  // Holding one mebibyte less than the process has to spare succeeds, and is counted.
  const int64_t hold = spare - kMiB;
  if (hold <= 0) return;
  const test::LimitedOutcome granted = train(0, most, hold);
  ASSERT_EQ(granted.code, 0) << granted.text;
  EXPECT_GE(granted.figures.at("allocated"), honest.figures.at("allocated") + hold - kMiB / 4);
}

INSTANTIATE_TEST_SUITE_P(recipes, limited,
                         testing::Values(Case{"vae", 8}, Case{"lenet5", 8}, Case{"mlp", 8},
                                         Case{"mobilenetv2", 2}, Case{"resnet18", 2},
                                         Case{"lstm", 4}, Case{"gpt", 1}, Case{"unet_ddpm", 2}),
                         [](const auto& info) { return std::string(info.param.recipe); });

}  // namespace
}  // namespace thimble::limited_slow_test
