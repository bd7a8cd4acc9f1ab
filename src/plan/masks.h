// Values of the forward part of which the backward part looks at one bit of every element.
#pragma once

#include "ir/graph.h"
#include "plan/arena.h"

namespace thimble::plan {

// Stands behind the name of the bits that are kept in the place of a value.
inline constexpr const char* kBits = " (bits)";

// A step, and what recompute() makes of it.
struct Masked {
  ir::Graph graph;
  ir::Graph light;
};

// The step with bits (OpDef::mask) in the place of values that would wait for the backward part,
// where that lowers the peak which recompute() arrives at; else the step as it is. A value that
// others still read whole is kept for them alone. Nodes stand in the order in which they will run,
// and stay in it; every result keeps its bits.
// Source: Jain et al., "Gist: Efficient Data Encoding for Deep Neural Network Training", 2018.
[[nodiscard]] Masked keep_masks(const ir::Graph& graph, const ArenaOptions& options);

}  // namespace thimble::plan
