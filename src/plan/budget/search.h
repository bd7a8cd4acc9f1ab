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
#include "plan/remat/storage.h"
#include "plan/swap/rates.h"

namespace thimble::plan {

struct Budget {
  // Limit for resident parameters and state, arena and staging, in bytes; 0: no limit.
  int64_t bytes = 0;
  Swap swap = Swap::never;
  int64_t smallest_swapped_bytes = 4096;  // see SwapOptions
  std::shared_ptr<SwapDevice> device;     // null: SwapRates()
  int64_t least_staging_bytes = 0;        // the least staging with which a swap file works, slowly
  // Parameters and state that another program over the same store keeps in the swap file: this
  // program must read them there and may put no others there. None: free choice.
  std::optional<std::set<std::string>> in_file;
  std::shared_ptr<const NodeTimes> times;  // null: estimated by work
  ActivationStorage saved;                 // how activations are stored for the backward part
  int64_t micro_batches = 1;               // number of micro-batches, for the decisions
  bool explain = false;        // fill Plan::strategies, Plan::candidates and Plan::decisions
  std::shared_ptr<Memo> memo;  // variants of earlier plans of this graph; null: none
};

// A step that is ready to run.
struct Fitted {
  StepDecisions decisions;
  ir::Graph graph;
  Arena arena;
  std::set<std::string> in_file;    // parameters and state in the swap file
  std::vector<int64_t> slot_bytes;  // of the swap file; empty: it needs none
};

// Returns the fastest candidate that keeps the budget, by predicted time; if none does, the
// smallest. Without a budget, bytes are weighed against work. Results keep their bits, except for
// Budget::saved. The candidates of a budget include those of every smaller budget, so more memory
// is never predicted slower.
[[nodiscard]] Fitted fit(const ir::Graph& graph, const ArenaOptions& options, const Budget& budget);

// Applies decisions made before. budget: its storage, device and times. Throws Error if the
// decisions belong to another step.
[[nodiscard]] Fitted apply(const ir::Graph& graph, const ArenaOptions& options,
                           const Budget& budget, const StepDecisions& decisions);

}  // namespace thimble::plan
