// Which items lie in the swap file when, so that no more than a target is alive at once.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/swap.h"
#include "plan/swap_items.h"

namespace thimble::plan {

// Bytes alive at each step, parameters and state counted in; changed by what is swapped.
using Live = std::vector<int64_t>;

// Decides SwapItem::out of all items and updates live. Stays are counted without any lead.
void choose_swaps(std::vector<SwapItem>& items, Live& live, const SwapOptions& options);

// Begins reads before, and ends writes after, the steps where they are needed, as long as no more
// than the target is alive. Every stay of a swapped item, in order of its first step.
[[nodiscard]] std::vector<Stay> place_transfers(const std::vector<SwapItem>& items, Live& live,
                                                const SwapOptions& options);

// What the transfers of a step come to.
struct TransferTimes {
  int64_t count = 0;
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
  double busy_ms = 0.0;
  double stall_ms = 0.0;
};
// Runs through the step: transfers one after the other, beside the nodes.
[[nodiscard]] TransferTimes transfer_times(const std::vector<SwapItem>& items,
                                           const std::vector<Stay>& stays, const SwapCosts& costs);

}  // namespace thimble::plan
