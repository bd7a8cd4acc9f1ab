// Graph to graph. Each pass keeps the meaning and the sources' names; none names an op.
#pragma once

#include "ir/graph.h"

namespace thimble::passes {

// Lets every op take the form it has in a phase: dropout vanishes at inference, and so on.
[[nodiscard]] ir::Graph specialize(const ir::Graph& graph, ir::Phase phase);

// Work on rows that are gathered from a table of fewer rows is done on the table, before they are
// gathered: embedding(i, table) W = embedding(i, table W). Sums are taken in another order. The
// batch must be fixed; before gradients are appended, which then follow suit.
[[nodiscard]] ir::Graph gather_late(const ir::Graph& graph);

// Drops nodes that no result and no update needs. Sources that nothing reads are dropped too.
[[nodiscard]] ir::Graph remove_dead_code(const ir::Graph& graph);

// Computes, once and for all, small nodes all of whose inputs are constants.
[[nodiscard]] ir::Graph fold_constants(const ir::Graph& graph);

// Lets a matrix op apply the activation that alone reads its result.
[[nodiscard]] ir::Graph fuse_epilogues(const ir::Graph& graph);

// All of the above after those before, in their order.
[[nodiscard]] ir::Graph optimize(const ir::Graph& graph);

}  // namespace thimble::passes
