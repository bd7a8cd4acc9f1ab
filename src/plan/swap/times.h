// How long a step waits for the swap file.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/swap/items.h"
#include "plan/swap/swap.h"

namespace thimble::plan {

// What the transfers of a step come to.
struct TransferTimes {
  int64_t count = 0;
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
  double busy_ms = 0.0;
  double stall_ms = 0.0;
};
// Runs through the step: always the most urgent transfer, beside the nodes.
[[nodiscard]] TransferTimes transfer_times(const std::vector<SwapItem>& items,
                                           const std::vector<Residency>& residencies,
                                           const SwapCosts& costs);
// The same of a step that holds its transfers, whose own node_ms do not count; bytes as they are
// moved, without what memory is rounded up by.
[[nodiscard]] TransferTimes transfer_times(const ir::Graph& graph, const SwapCosts& costs);

}  // namespace thimble::plan
