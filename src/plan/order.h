// The order in which the nodes of a graph run.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace thimble::plan {

// The same graph with its nodes in an order that keeps the largest sum of bytes alive at once
// small; never larger than in the order given, if that keeps the same rules. Keeps the rules of
// data flow, runs an update after every other reader of what it changes, and after the loss is
// known, so that a step whose loss is not finite can stop before it changes a parameter or state.
[[nodiscard]] ir::Graph order_nodes(const ir::Graph& graph);

// Largest sum of bytes of arena values alive at once, in the order given, without sharing.
[[nodiscard]] int64_t live_peak_bytes(const ir::Graph& graph);

}  // namespace thimble::plan
