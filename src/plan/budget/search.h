// The ways to bring a step into its memory, one after the other.
#pragma once

#include <thimble/plan.h>
#include <thimble/trainer_options.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/budget/variants.h"
#include "plan/node_times.h"
#include "plan/remat/activations_16bit.h"
#include "plan/swap/swap.h"

namespace thimble::plan {

// What the swap file takes; see exec::SwapFile.
struct SwapRates {
  double read_ms_per_byte = 1e-6;  // 1 GB/s
  double write_ms_per_byte = 1e-6;
  double transfer_ms = 0.05;  // of each transfer, besides
  // Staging with which the file is as fast as that; least, with which it works at all; and what it
  // can grow by from there.
  int64_t staging_bytes = 0;
  int64_t least_staging_bytes = 0;
  int64_t staging_step_bytes = 1;
  double least_staging_factor = 6.0;  // how many times as long bytes take with the least staging

  // With less staging a transfer is cut into more pieces, each of which takes as long to begin: its
  // time falls as that of 1/staging_bytes.
  [[nodiscard]] SwapRates with_staging(int64_t bytes) const;
  // Makes everything take that many times as long, where a step with so much staging did: with the
  // least, which says little of more, bytes with the least alone.
  void scale(double factor, int64_t bytes);
  // Of nodes that take so long, and a file of these rates as they stand; see with_staging.
  [[nodiscard]] SwapCosts costs(std::vector<double> node_ms) const;
  bool operator==(const SwapRates&) const = default;
};

struct Budget {
  // Of parameters and state that stay in memory, the arena and staging; 0: none.
  int64_t bytes = 0;
  Swap swap = Swap::never;
  int64_t smallest_swapped_bytes = 4096;  // see SwapOptions
  // Of the swap file, asked where swap comes into question; empty: SwapRates().
  std::function<SwapRates()> rates;
  int64_t least_staging_bytes = 0;  // with which it works, if slowly
  // Parameters and state that another program over the same store put into the swap file; this one
  // must fetch them, and may put no others there. None: as it likes.
  std::optional<std::set<std::string>> in_file;
  std::shared_ptr<const NodeTimes> times;  // null: estimated by work
  HalfStorage saved;           // how values may wait for the backward part; nothing: as they are
  bool explain = false;        // fill Plan::strategies
  std::shared_ptr<Memo> memo;  // of plans of this graph before; null: there were none
};

// A step that is ready to run.
struct Fitted {
  ir::Graph graph;
  Arena arena;
  std::set<std::string> in_file;    // parameters and state in the swap file
  std::vector<int64_t> slot_bytes;  // of the swap file; empty: it needs none
};

// Orders the nodes of a graph and does what the budget asks for, cheapest in time first: bits kept
// in the place of values and values computed again where that costs little, then any values, then
// swap. Where the budget cannot be kept, the plan is the smallest there is; without one, bytes are
// weighed against work (ArenaFitter::balanced). Every result keeps its bits, but for what
// Budget::saved changes.
[[nodiscard]] Fitted fit(const ir::Graph& graph, const ArenaOptions& options, const Budget& budget);

}  // namespace thimble::plan
