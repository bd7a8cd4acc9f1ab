// Bit masks: one bit of each element, kept for backward nodes that need no more of a value.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"

namespace thimble::plan {

// The step, in one or several orders, with bit masks (MemoryTraits::mask) kept for the backward
// part in place of values, where that lowers the peak of the first order after cheap recomputation;
// else the step as it is. A value that others read whole is kept for them alone. Every result keeps
// its bits. Source: Jain et al., "Gist: Efficient Data Encoding for Deep Neural Network Training",
// 2018.
[[nodiscard]] std::vector<ir::Graph> keep_bit_masks(std::span<const ir::Graph> orders,
                                                    const ArenaOptions& options);

}  // namespace thimble::plan
