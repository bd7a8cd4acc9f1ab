// Numbering of values after nodes were added or moved.
#pragma once

#include "ir/graph.h"

namespace thimble::plan {

// The same graph after nodes were added to it or moved: every value knows its producer, and values
// are numbered in the order in which they are made, as planners expect.
[[nodiscard]] ir::Graph renumbered(ir::Graph graph);

}  // namespace thimble::plan
