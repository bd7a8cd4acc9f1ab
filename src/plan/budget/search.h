// The search for the fastest step within a memory budget.
#pragma once

#include <thimble/plan.h>
#include <thimble/swap.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/budget/decisions.h"
#include "plan/budget/variants.h"
#include "plan/node_times.h"
#include "plan/remat/activations_16bit.h"
#include "plan/swap/rates.h"

namespace thimble::plan {

struct Budget {
  // Of parameters and state that stay in memory, the arena and staging; 0: none.
  int64_t bytes = 0;
  Swap swap = Swap::never;
  int64_t smallest_swapped_bytes = 4096;  // see SwapOptions
  std::shared_ptr<SwapDevice> device;     // null: SwapRates()
  int64_t least_staging_bytes = 0;        // with which the swap file works, if slowly
  // Parameters and state that another program over the same store put into the swap file; this one
  // must fetch them, and may put no others there. None: as it likes.
  std::optional<std::set<std::string>> in_file;
  std::shared_ptr<const NodeTimes> times;  // null: estimated by work
  ActivationStorage saved;                 // how values may wait for the backward part
  int64_t micro_batches = 1;               // that the batch is computed in; for the decisions
  bool explain = false;        // fill Plan::strategies, Plan::candidates and Plan::decisions
  std::shared_ptr<Memo> memo;  // of plans of this graph before; null: there were none
};

// A step that is ready to run.
struct Fitted {
  StepDecisions decisions;
  ir::Graph graph;
  Arena arena;
  std::set<std::string> in_file;    // parameters and state in the swap file
  std::vector<int64_t> slot_bytes;  // of the swap file; empty: it needs none
};

// The fastest step of those tried that keep the budget, by predicted time; where none does, the
// smallest. Without a budget bytes are weighed against work. Every result keeps its bits, but for
// what Budget::saved changes. Without swap the candidates for a budget are all candidates for a
// smaller one and more, so that more memory is never slower.
[[nodiscard]] Fitted fit(const ir::Graph& graph, const ArenaOptions& options, const Budget& budget);

// The step that was decided before. budget: its storage, device and times. Throws Error where the
// decisions are of another step.
[[nodiscard]] Fitted apply(const ir::Graph& graph, const ArenaOptions& options,
                           const Budget& budget, const StepDecisions& decisions);

}  // namespace thimble::plan
