// Bit masks: one bit per element, kept instead of a value whose backward nodes need no more.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"

namespace thimble::plan {

// The step, in one or several orders, with bit masks (MemoryTraits::mask) kept for the backward
// part instead of values, if that lowers the peak of the first order after cheap recomputation;
// else the step as it is. A value that other nodes read whole is kept for them. Every result keeps
// its bits. Source: Jain et al., "Gist: Efficient Data Encoding for Deep Neural Network Training",
// 2018.
[[nodiscard]] std::vector<ir::Graph> keep_bit_masks(std::span<const ir::Graph> orders,
                                                    const ArenaOptions& options);

}  // namespace thimble::plan
