// A training that swaps is planned by what its rehearsal took, unless that makes it slower.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <functional>
#include <vector>

#include "models/nearest_budget.h"
#include "train/state.h"

namespace thimble::train {
namespace {

struct Planned {
  Plan before;  // anything ran
  Plan after;
  int rehearsals = 0;
};

// A training whose file seems to be a thousand times as fast in the first rehearsal, and whose
// steps seem to take so long in each.
Planned planned(const std::vector<double>& step_ms) {
  const Graph graph = find_recipe("lenet5").build();
  TrainerOptions options{.batch = 8, .swap = Swap::always, .threads = 1};
  options.memory_budget = test::nearest_budget(graph, options) + 200'000;
  State state(graph.ir(), options);
  Planned result{.before = state.plan()};
  state.rehearsal = [&](exec::Session& session, const exec::SwapFile& file) {
    exec::Rehearsal rehearsal = exec::rehearse(session, file);
    if (result.rehearsals == 0) rehearsal.busy_ms /= 1000.0;
    rehearsal.step_ms = step_ms.at(static_cast<size_t>(result.rehearsals++));
    return rehearsal;
  };
  state.allocate();
  result.after = state.plan();
  return result;
}

bool same_memory(const Plan& a, const Plan& b) {
  return a.text(0).substr(0, a.text(0).find("swap file")) ==
             b.text(0).substr(0, b.text(0).find("swap file")) &&
         a.swap_read_bytes == b.swap_read_bytes && a.swap_written_bytes == b.swap_written_bytes;
}

TEST(state, plans_by_what_a_rehearsal_took) {
  const Planned swapped = planned({10.0, 10.5});
  EXPECT_EQ(swapped.rehearsals, 2);
  EXPECT_FALSE(same_memory(swapped.before, swapped.after));
  EXPECT_EQ(swapped.after.step_ms, 10.5);
}

TEST(state, keeps_its_first_plan_where_the_one_by_measured_times_takes_longer) {
  const Planned swapped = planned({10.0, 12.0});
  EXPECT_EQ(swapped.rehearsals, 2);
  EXPECT_TRUE(same_memory(swapped.before, swapped.after));
  EXPECT_EQ(swapped.after.step_ms, 10.0);
}

}  // namespace
}  // namespace thimble::train
