// Chooses which items lie in the swap file and when, so that live bytes stay within a target.
#pragma once

#include <vector>

#include "plan/swap/items.h"
#include "plan/swap/swap.h"

namespace thimble::plan {

// Decides SwapItem::out of all items and updates live. Transfers take no memory before and after
// their steps yet.
void choose_swaps(std::vector<SwapItem>& items, Live& live, const SwapOptions& options);

// Begins reads earlier and ends writes later than needed, as long as live bytes stay within the
// target. Returns all residencies of swapped items, sorted by start.
[[nodiscard]] std::vector<Residency> place_transfers(const std::vector<SwapItem>& items, Live& live,
                                                     const SwapOptions& options);

}  // namespace thimble::plan
