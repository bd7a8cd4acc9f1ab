#include "plan/budget/search.h"

#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/recipes.h>

#include <limits>
#include <memory>

#include "ir/graph.h"
#include "passes/passes.h"
#include "plan/budget/strategies.h"
#include "plan/work.h"
#include "train/compile.h"

namespace thimble::plan::budget_search_test {
namespace {

ir::Graph step_of(const char* name) {
  const Recipe& recipe = find_recipe(name);
  const Graph model = recipe.build();
  return passes::optimize(
      train::training_graph(model.ir(), {.optimizer = recipe.optimizer(), .batch = recipe.batch},
                            recipe.batch, train::StepKind::update));
}

TEST(budget_search, finds_the_same_plans_with_and_without_earlier_results) {
  for (const char* name : {"lenet5", "vae"}) {
    const ir::Graph step = step_of(name);
    const auto memo = std::make_shared<Memo>();
    const int64_t free = counted_bytes(fit(step, {}, {}).arena.plan);
    for (const Swap swap : {Swap::never, Swap::automatic, Swap::always}) {
      for (const double share : {0.8, 0.5, 0.0}) {
        Budget budget;
        budget.bytes = static_cast<int64_t>(share * static_cast<double>(free)) + 1;
        budget.swap = swap;
        budget.explain = true;
        const Plan apart = fit(step, {}, budget).arena.plan;
        budget.memo = memo;
        const Plan together = fit(step, {}, budget).arena.plan;
        EXPECT_EQ(together.planned_peak_bytes, apart.planned_peak_bytes) << name << share;
        EXPECT_EQ(together.step_ms, apart.step_ms) << name << share;
        EXPECT_EQ(together.steps.size(), apart.steps.size()) << name << share;
        EXPECT_EQ(together.strategies.size(), apart.strategies.size()) << name << share;
      }
    }
  }
}

// Here the best mixture is not the one halfway. It takes 0.75 times the time of swap alone.
TEST(budget_search, mixes_recomputation_and_swap_where_the_file_is_slow) {
  const ir::Graph step = step_of("mobilenetv2");
  Budget budget;
  budget.bytes = 9'750'000;
  budget.least_staging_bytes = 12'224;
  budget.device = std::make_shared<KnownSwapDevice>(SwapRates{.read_ms_per_byte = 2e-6,
                                                              .write_ms_per_byte = 2e-6,
                                                              .staging_bytes = 524'288,
                                                              .least_staging_bytes = 12'224,
                                                              .staging_step_bytes = 8192});
  const auto step_ms = [&](Swap swap) {
    budget.swap = swap;
    const Plan plan = fit(step, {}, budget).arena.plan;
    EXPECT_LE(counted_bytes(plan), budget.bytes);
    return plan.step_ms;
  };
  EXPECT_LT(step_ms(Swap::automatic), 0.65 * step_ms(Swap::always));
}

// With an ample budget only products of very little work are recomputed.
TEST(budget_search, balances_bytes_and_work_where_there_is_no_budget) {
  for (const char* name : {"vae", "mobilenetv2"}) {
    const ir::Graph step = step_of(name);
    Budget ample;
    ample.bytes = int64_t{1} << 40;
    const Fitted fast = fit(step, {}, ample);
    const Fitted balanced = fit(step, {}, {});
    const auto fast_bytes = static_cast<double>(counted_bytes(fast.arena.plan));
    const auto balanced_bytes = static_cast<double>(counted_bytes(balanced.arena.plan));
    EXPECT_LT(balanced_bytes, 0.9 * fast_bytes) << name;
    EXPECT_GT(work_of(balanced.graph), work_of(fast.graph)) << name;
    EXPECT_LE(work_of(balanced.graph), 1.08 * work_of(fast.graph)) << name;
    EXPECT_LT(balanced_bytes * work_of(balanced.graph), fast_bytes * work_of(fast.graph)) << name;
  }
}

// The plan without a budget fits in a budget of its own size. The search for that budget must not
// find a slower plan.
TEST(budget_search, takes_no_more_time_than_the_plan_without_a_budget_if_that_fits) {
  for (const char* name : {"vae", "resnet18"}) {
    const ir::Graph step = step_of(name);
    const Fitted balanced = fit(step, {}, {});
    const int64_t bytes = counted_bytes(balanced.arena.plan);
    for (const int64_t spare : {int64_t{0}, bytes / 100}) {
      Budget budget;
      budget.bytes = bytes + spare;
      const Fitted fitted = fit(step, {}, budget);
      EXPECT_LE(counted_bytes(fitted.arena.plan), budget.bytes) << name;
      EXPECT_LE(fitted.arena.plan.step_ms, balanced.arena.plan.step_ms) << name;
    }
  }
}

TEST(budget_search, gives_a_swap_file_the_staging_memory_that_fits) {
  constexpr SwapRates kRates{
      .staging_bytes = 136192, .least_staging_bytes = 5120, .staging_step_bytes = 4096};
  const ir::Graph step = step_of("vae");
  const auto within = [&](int64_t bytes) {
    Budget budget;
    budget.bytes = bytes;
    budget.swap = Swap::always;
    budget.device = std::make_shared<KnownSwapDevice>(kRates);
    budget.least_staging_bytes = kRates.least_staging_bytes;
    Plan plan = fit(step, {}, budget).arena.plan;
    EXPECT_EQ((plan.staging_bytes - kRates.least_staging_bytes) % kRates.staging_step_bytes, 0);
    return plan;
  };
  const Plan least = within(1);
  EXPECT_EQ(least.staging_bytes, kRates.least_staging_bytes);
  const int64_t smallest = counted_bytes(least);
  const int64_t room = kRates.staging_bytes / 2;
  const Plan exact = within(smallest);
  const Plan between = within(smallest + room);
  const Plan most = within(smallest + 4 * kRates.staging_bytes);
  EXPECT_EQ(exact.staging_bytes, kRates.least_staging_bytes);
  EXPECT_LE(counted_bytes(between), smallest + room);
  EXPECT_GT(between.staging_bytes, room / 3);
  EXPECT_LT(between.staging_bytes, kRates.staging_bytes);
  EXPECT_LT(between.swap_stall_ms, exact.swap_stall_ms / 2);
  EXPECT_GT(most.staging_bytes, between.staging_bytes);
  EXPECT_LT(most.swap_stall_ms, between.swap_stall_ms);
}

// Also if the plan that suits the file's speed is larger than the budget.
TEST(budget_search, uses_the_room_for_staging_whatever_the_speed_of_the_file) {
  const ir::Graph step = step_of("lenet5");
  Budget budget;
  budget.swap = Swap::always;
  budget.least_staging_bytes = 5120;
  for (const double ms_per_byte : {1e-7, 1e-6, 1e-5}) {
    for (const double transfer_ms : {0.0, 0.01, 0.1}) {
      budget.device = std::make_shared<KnownSwapDevice>(
          SwapRates{.read_ms_per_byte = ms_per_byte,
                    .write_ms_per_byte = 2 * ms_per_byte,
                    .transfer_ms = transfer_ms,
                    .staging_bytes = 136192,
                    .least_staging_bytes = budget.least_staging_bytes,
                    .staging_step_bytes = 4096});
      budget.bytes = 1;
      const int64_t smallest = counted_bytes(fit(step, {}, budget).arena.plan);
      for (const int64_t room : {5000, 20'000, 60'000, 120'000}) {
        budget.bytes = smallest + room;
        const Plan plan = fit(step, {}, budget).arena.plan;
        EXPECT_LE(counted_bytes(plan), budget.bytes);
        EXPECT_GT(plan.staging_bytes, budget.least_staging_bytes) << room;
      }
    }
  }
}

TEST(budget_search, predicts_measured_times_if_the_step_was_rehearsed) {
  const ir::Graph step = step_of("vae");
  Budget budget;
  budget.bytes = 1;
  budget.swap = Swap::always;
  budget.explain = true;
  Plan plan = fit(step, {}, budget).arena.plan;
  const std::vector<PlanStrategy> before = plan.strategies;
  EXPECT_GE(plan.swap_busy_ms * (1.0 + 1e-9), plan.swap_stall_ms);
  predict_as_rehearsed(plan, {.node_ms = {}, .step_ms = 70.0, .busy_ms = 40.0, .stall_ms = 30.0});
  EXPECT_EQ(plan.step_ms, 70.0);
  EXPECT_EQ(plan.swap_busy_ms, 40.0);
  EXPECT_EQ(plan.swap_stall_ms, 30.0);
  ASSERT_EQ(before.back().name, "swap");
  EXPECT_EQ(plan.strategies.back().predicted_ms, 30.0);
  for (size_t i = 0; i + 1 < before.size(); ++i) {
    EXPECT_EQ(plan.strategies[i].predicted_ms, before[i].predicted_ms);
  }
}

TEST(swap_rates, lie_between_those_of_all_staging_and_of_the_least) {
  constexpr SwapRates kRates{.staging_bytes = 160, .least_staging_bytes = 10};
  const auto factor = [](const SwapRates& rates, int64_t staging) {
    return rates.with_staging(staging).read_ms_per_byte / rates.read_ms_per_byte;
  };
  EXPECT_EQ(factor(kRates, 160), 1.0);
  EXPECT_EQ(factor(kRates, 10), kRates.least_staging_factor);
  // A piece of half the size takes as long to begin: (1/20 - 1/160) / (1/10 - 1/160) of the way.
  EXPECT_NEAR(factor(kRates, 20), 1.0 + (kRates.least_staging_factor - 1.0) * 7.0 / 15.0, 1e-9);
  SwapRates least = kRates;
  least.scale(2.0, 10);
  EXPECT_EQ(least.read_ms_per_byte, kRates.read_ms_per_byte);
  EXPECT_EQ(factor(least, 10), 2.0 * kRates.least_staging_factor);
  SwapRates all = kRates;
  all.scale(2.0, 20);
  EXPECT_EQ(all.write_ms_per_byte, 2.0 * kRates.write_ms_per_byte);
  EXPECT_EQ(all.least_staging_factor, kRates.least_staging_factor);
}

TEST(budget_search, leaves_updates_whole_if_that_takes_less_memory) {
  const ir::Graph step = step_of("resnet18");
  Variants variants(step, {}, {});
  const int64_t tiled = variants.smallest(true).arena_bytes;
  const int64_t whole = variants.smallest(false).arena_bytes;
  EXPECT_LT(whole, tiled * 8 / 10);
  Budget budget;
  budget.bytes = 1;
  EXPECT_EQ(fit(step, {}, budget).arena.plan.arena_bytes, whole);
}

// Plans a step for budgets from the least that works to an ample one.
// memo: of this recipe.
void expect_no_longer_step_within_a_larger_budget(const char* name, Swap swap, int budgets,
                                                  const SwapRates& rates,
                                                  const std::shared_ptr<Memo>& memo) {
  SCOPED_TRACE(std::string(name) + (swap == Swap::always ? ", always swap" : ""));
  const ir::Graph step = step_of(name);
  Budget budget;
  budget.memo = memo;
  budget.swap = swap;
  budget.device = std::make_shared<KnownSwapDevice>(rates);
  budget.least_staging_bytes = rates.least_staging_bytes;
  budget.bytes = 1;
  const int64_t least = counted_bytes(fit(step, {}, budget).arena.plan);
  budget.bytes = int64_t{1} << 40;
  const int64_t most = counted_bytes(fit(step, {}, budget).arena.plan);
  double last_ms = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= budgets; ++i) {
    budget.bytes = least + i * (most - least) / budgets;
    const Plan plan = fit(step, {}, budget).arena.plan;
    EXPECT_LE(counted_bytes(plan), budget.bytes);
    EXPECT_LE(plan.step_ms, last_ms) << "within " << budget.bytes;
    last_ms = plan.step_ms;
  }
}

TEST(budget_search, predicts_no_longer_step_within_a_larger_budget) {
  constexpr int kBudgets = 40;
  for (const char* name : {"lenet5", "vae", "mobilenetv2"}) {
    expect_no_longer_step_within_a_larger_budget(name, Swap::never, kBudgets, {},
                                                 std::make_shared<Memo>());
  }
}

class budget_search_with_swap : public testing::TestWithParam<const char*> {};

TEST_P(budget_search_with_swap, predicts_no_longer_step_within_a_larger_budget) {
  constexpr int kBudgets = 8;
  constexpr SwapRates kRates{.read_ms_per_byte = 1e-6,
                             .write_ms_per_byte = 2e-6,
                             .transfer_ms = 0.02,
                             .staging_bytes = 524'288,
                             .least_staging_bytes = 12'224,
                             .staging_step_bytes = 8192};
  const auto memo = std::make_shared<Memo>();
  for (const Swap swap : {Swap::automatic, Swap::always}) {
    expect_no_longer_step_within_a_larger_budget(GetParam(), swap, kBudgets, kRates, memo);
  }
}

INSTANTIATE_TEST_SUITE_P(recipes, budget_search_with_swap,
                         testing::Values("lenet5", "mlp", "lstm", "vae", "mobilenetv2"),
                         [](const auto& info) { return std::string(info.param); });

TEST(budget_search, logs_its_candidates) {
  const ir::Graph step = step_of("vae");
  Budget budget;
  budget.explain = true;
  budget.bytes = counted_bytes(fit(step, {}, {}).arena.plan) * 8 / 10;
  budget.swap = Swap::automatic;
  const Plan plan = fit(step, {}, budget).arena.plan;
  ASSERT_GT(plan.candidates.size(), 3U);
  int chosen = 0;
  for (const PlanCandidate& candidate : plan.candidates) {
    EXPECT_NE(candidate.decisions, "");
    if (candidate.verdict != "chosen") continue;
    ++chosen;
    EXPECT_EQ(candidate.bytes, counted_bytes(plan));
    EXPECT_EQ(candidate.step_ms, plan.step_ms);
  }
  EXPECT_EQ(chosen, 1);
}

void expect_same(const Fitted& a, const Fitted& b) {
  EXPECT_EQ(a.decisions, b.decisions);
  EXPECT_EQ(ir::text(a.graph), ir::text(b.graph));
  EXPECT_EQ(a.arena.buffer_of_value, b.arena.buffer_of_value);
  EXPECT_EQ(a.arena.plan.planned_peak_bytes, b.arena.plan.planned_peak_bytes);
  EXPECT_EQ(a.arena.plan.step_ms, b.arena.plan.step_ms);
  EXPECT_EQ(a.in_file, b.in_file);
  EXPECT_EQ(a.slot_bytes, b.slot_bytes);
}

TEST(step_decisions, make_the_same_plan_when_saved_and_applied) {
  for (const char* name : {"lenet5", "vae", "mobilenetv2"}) {
    const ir::Graph step = step_of(name);
    const auto memo = std::make_shared<Memo>();
    const int64_t free = counted_bytes(fit(step, {}, {}).arena.plan);
    for (const Swap swap : {Swap::never, Swap::automatic, Swap::always}) {
      for (const double share : {0.0, 0.6, 1.0}) {
        Budget budget;
        budget.memo = memo;
        budget.bytes = static_cast<int64_t>(share * static_cast<double>(free)) + 1;
        budget.swap = swap;
        budget.least_staging_bytes = 4096;
        const Fitted found = fit(step, {}, budget);
        const StepDecisions loaded = decisions_from_json(to_json(found.decisions));
        EXPECT_EQ(loaded, found.decisions) << name << share;
        budget.memo = nullptr;
        expect_same(apply(step, {}, budget, loaded), found);
      }
    }
  }
}

TEST(step_decisions, of_another_step_or_no_decisions_are_refused) {
  Budget budget;
  budget.bytes = 1;
  const StepDecisions decisions = fit(step_of("mobilenetv2"), {}, budget).decisions;
  EXPECT_THROW(static_cast<void>(apply(step_of("lenet5"), {}, budget, decisions)), Error);
  for (const char* text : {"", "{}", "[]", "null", R"({"version": 3})"}) {
    EXPECT_THROW(static_cast<void>(decisions_from_json(text)), Error) << text;
  }
  std::string text = to_json(decisions);
  text.replace(text.find(R"("once")"), 6, R"("thus")");
  EXPECT_THROW(static_cast<void>(decisions_from_json(text)), Error);
}

}  // namespace
}  // namespace thimble::plan::budget_search_test
