// The order in which the nodes of a graph run.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/order/problem.h"

namespace thimble::plan {

// Problems of at most this many nodes are always solved exactly.
inline constexpr int kExactNodes = 20;

// Work limit of the search for more than kExactNodes nodes, counted in nodes run: ten million take
// about a second. Counted, not timed, so that every machine finds the same order.
inline constexpr int64_t kOrderWork = 200'000;

struct NodeOrder {
  std::vector<int> nodes;
  int64_t peak_bytes = 0;   // the most alive at once, workspaces included
  int64_t bound_bytes = 0;  // no order has less
  bool optimal = false;     // nor than peak_bytes
};

// Finds an order with a small peak, never larger than that of the natural order: heuristics first,
// then a search below the best so far (search.h), exact unless its work is used up. Deterministic.
[[nodiscard]] NodeOrder best_order(const OrderProblem& problem, int64_t most_work = kOrderWork);

// The graph with its nodes in an order with a small peak, measured as the memory plan does: with
// buffers shared in place, views and workspaces. The peak is never higher than in the given order,
// if that follows these rules: data flow; an update runs after every other reader of what it
// changes and after the loss. So a step whose loss is not finite can stop before it changes a
// parameter or state.
[[nodiscard]] ir::Graph order_nodes(const ir::Graph& graph, const ArenaOptions& options = {},
                                    int64_t most_work = kOrderWork);

// The graph in several orders, from which a planner may choose: first that of order_nodes, then two
// list schedules. One runs a node that adds no live bytes as soon as it can, one runs the node that
// leaves the fewest bytes alive. In both, nodes that the loss does not need follow it.
[[nodiscard]] std::vector<ir::Graph> orders_of(const ir::Graph& graph,
                                               const ArenaOptions& options = {});

// Largest sum of bytes alive at once in the arena, in the order given.
[[nodiscard]] int64_t live_peak_bytes(const ir::Graph& graph, const ArenaOptions& options = {});

}  // namespace thimble::plan
