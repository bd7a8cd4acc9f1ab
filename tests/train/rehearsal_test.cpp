// A training that swaps is planned by the times of its rehearsal, unless the new plan is slower.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <vector>

#include "models/nearest_budget.h"
#include "train/state.h"

namespace thimble::train::rehearsal_test {
namespace {

constexpr double kFast = 1e-3;  // milliseconds that the file takes in a step
constexpr double kSlow = 1e6;
constexpr double kRounding = 1e-12;  // of a few operations in double precision

struct Planned {
  Plan before;  // the rehearsal
  Plan after;
  size_t rehearsals = 0;
  double expected_ms = 0.0;  // of a step, as the rehearsal measured it
};

// A training with a clock that makes the file and each rehearsed step take these times.
Planned planned(double busy_ms, const std::vector<double>& step_ms) {
  const Graph graph = find_recipe("lenet5").build();
  TrainerOptions options{.batch = 8, .swap = Swap::always, .threads = 1};
  options.memory_budget = test::nearest_budget(graph, options) + 200'000;
  State state(graph.ir(), options);
  Planned result{.before = state.plan()};
  state.rehearse_with = [&](exec::Session& session, const exec::SwapFile&) {
    const size_t nodes = session.program().calls.size();
    return plan::Rehearsal{.node_ms = std::vector<double>(nodes, 0.05),
                           .step_ms = step_ms.at(result.rehearsals++),
                           .busy_ms = busy_ms,
                           .stall_ms = std::min(busy_ms / 2, 1.0)};
  };
  state.allocate();
  result.after = state.plan();
  result.expected_ms = state.expected_stall_ms(
      result.after.step_ms,
      {.stall_ms = result.after.swap_stall_ms, .busy_ms = result.after.swap_busy_ms});
  return result;
}

bool are_alike(const Plan& a, const Plan& b) {
  return a.planned_peak_bytes == b.planned_peak_bytes && a.arena_bytes == b.arena_bytes &&
         a.staging_bytes == b.staging_bytes && a.in_file_bytes == b.in_file_bytes &&
         a.swap_read_bytes == b.swap_read_bytes && a.swap_written_bytes == b.swap_written_bytes;
}

TEST(state, plans_with_the_times_of_a_rehearsal) {
  std::vector<Plan> plans;
  for (const double busy_ms : {kFast, kSlow}) {
    const Planned swapped = planned(busy_ms, {10.0, 10.5});
    EXPECT_EQ(swapped.rehearsals, 2U);
    EXPECT_EQ(swapped.after.step_ms, 10.5);
    EXPECT_NEAR(swapped.expected_ms, swapped.after.swap_stall_ms, kRounding * busy_ms);
    plans.push_back(swapped.after);
  }
  // Whatever the first plans, which follow the real disk.
  EXPECT_FALSE(are_alike(plans[0], plans[1]));
}

TEST(state, keeps_its_first_plan_if_the_one_from_measured_times_is_slower) {
  for (const double busy_ms : {kFast, kSlow}) {
    const Planned swapped = planned(busy_ms, {10.0, 12.0});
    EXPECT_EQ(swapped.rehearsals, 2U);
    EXPECT_EQ(swapped.after.step_ms, 10.0);
    EXPECT_NEAR(swapped.expected_ms, swapped.after.swap_stall_ms, kRounding * busy_ms);
    EXPECT_TRUE(are_alike(swapped.before, swapped.after));
  }
}

}  // namespace
}  // namespace thimble::train::rehearsal_test
