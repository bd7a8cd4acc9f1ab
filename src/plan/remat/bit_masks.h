// Values of the forward part of which the backward part looks at one bit of every element.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"

namespace thimble::plan {

// Stands behind the name of the bits that are kept in the place of a value.
inline constexpr const char* kBits = " (bits)";

// A step, in one or several orders, with bits (OpDef::mask) in the place of values that would wait
// for the backward part, where that lowers the peak of the first order after what costs little is
// computed again; else the step as it is. A value that others still read whole is kept for them
// alone. Every result keeps its bits. Source: Jain et al., "Gist: Efficient Data Encoding for Deep
// Neural Network Training", 2018.
[[nodiscard]] std::vector<ir::Graph> keep_masks(std::span<const ir::Graph> orders,
                                                const ArenaOptions& options);

}  // namespace thimble::plan
