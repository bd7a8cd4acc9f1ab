// Renumbers values after nodes were added or moved.
#pragma once

#include "ir/graph.h"

namespace thimble::plan {

// The graph with correct producers, and values numbered in the order of their nodes, as planners
// expect.
[[nodiscard]] ir::Graph renumbered(ir::Graph graph);

}  // namespace thimble::plan
