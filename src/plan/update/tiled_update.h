// Which updates are tiled: their gradients are computed and used up some rows at a time.
#pragma once

#include "ir/graph.h"
#include "plan/arena.h"

namespace thimble::plan {

// The graph with gradient and update of a parameter as one tiled update (ir/tiling.h), wherever no
// more lives meanwhile than before: then the gradient never exists as a whole. Such a node stands
// behind everything else that reads the parameter, so that what the gradient is computed from lives
// until there.
//
// graph: its nodes in the order in which they will run, which stays as it is. Where something needs
// the whole gradient (a limit on its norm, a sum over several steps), nothing changes. Results have
// the same bits.
[[nodiscard]] ir::Graph tile_updates(const ir::Graph& graph, const ArenaOptions& options);

}  // namespace thimble::plan
