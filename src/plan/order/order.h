// The order in which the nodes of a graph run.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/order/problem.h"

namespace thimble::plan {

// A problem of so many nodes is always solved exactly.
inline constexpr int kExactNodes = 20;

struct OrderLimits {
  // The most work of the exact search where there are more than exact_nodes, in nodes run: ten
  // millions take about a second. Counted, not timed, so that every machine finds the same order.
  int64_t exact_work = 200'000;
  int64_t beam_work = 200'000;  // of the search that follows where the exact one gives up
  int exact_nodes = kExactNodes;
};

struct NodeOrder {
  std::vector<int> nodes;
  int64_t peak_bytes = 0;   // the most alive at once, workspaces included
  int64_t bound_bytes = 0;  // no order has less
  bool optimal = false;     // nor than peak_bytes
};

// An order with a small peak: never larger than that of the natural order. Heuristics first; where
// they are above the bound, an exact search for less and less; where that gives up, a beam search
// (order_search.h). Deterministic.
[[nodiscard]] NodeOrder best_order(const OrderProblem& problem, const OrderLimits& limits = {});

// The same graph with its nodes in an order that keeps the largest sum of bytes alive at once
// small, as the memory plan counts them: buffers shared in place, views and workspaces. Never more
// than in the order given, as far as that keeps the same rules: those of data flow; an update runs
// after every other reader of what it changes, and after the loss is known, so that a step whose
// loss is not finite can stop before it changes a parameter or state.
[[nodiscard]] ir::Graph order_nodes(const ir::Graph& graph, const ArenaOptions& options = {},
                                    const OrderLimits& limits = {});

// The graph in several orders, from which a planner may choose that which suits what else it does:
// that of order_nodes first, then those that simple rules give: as soon as it can, what adds
// nothing; always what leaves the least alive. In these what the loss does not need stands behind
// it.
[[nodiscard]] std::vector<ir::Graph> orders_of(const ir::Graph& graph,
                                               const ArenaOptions& options = {});

// Largest sum of bytes alive at once in the arena, in the order given.
[[nodiscard]] int64_t live_peak_bytes(const ir::Graph& graph, const ArenaOptions& options = {});

}  // namespace thimble::plan
