// Simulates the transfers of a step.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/swap/items.h"
#include "plan/swap/swap.h"

namespace thimble::plan {

// Totals of the transfers of a step.
struct TransferTimes {
  int64_t count = 0;
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
  double busy_ms = 0.0;
  double stall_ms = 0.0;
};
// Simulates the step: the file always runs the most urgent transfer, beside the nodes.
[[nodiscard]] TransferTimes transfer_times(const std::vector<SwapItem>& items,
                                           const std::vector<Residency>& residencies,
                                           const SwapCosts& costs);
// The same for a graph that holds its transfers, whose own node_ms are ignored; bytes as they are
// moved, without rounding to the alignment.
[[nodiscard]] TransferTimes transfer_times(const ir::Graph& graph, const SwapCosts& costs);

}  // namespace thimble::plan
