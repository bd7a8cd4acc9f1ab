// Which items lie in the swap file when, so that no more than a target is alive at once.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/swap/items.h"
#include "plan/swap/swap.h"

namespace thimble::plan {

// Bytes alive at each step, parameters and state counted in; changed by what is swapped.
using Live = std::vector<int64_t>;

// Decides SwapItem::out of all items and updates live. Stays are counted without any lead.
void choose_swaps(std::vector<SwapItem>& items, Live& live, const SwapOptions& options);

// Begins reads before, and ends writes after, the steps where they are needed, as long as no more
// than the target is alive. Every residency of a swapped item, in order of its first step.
[[nodiscard]] std::vector<Residency> place_transfers(const std::vector<SwapItem>& items, Live& live,
                                                     const SwapOptions& options);

}  // namespace thimble::plan
