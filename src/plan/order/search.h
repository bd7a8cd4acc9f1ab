// Searches for an order of nodes whose live bytes stay within a limit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/order/problem.h"

namespace thimble::plan {

// Of the nodes that are ready, the first that leaves the fewest bytes alive; -1: none.
[[nodiscard]] int smallest_change(const OrderRun& run, std::span<const int> nodes);

// The search runs some nodes at once, without trying others: a node, or a chain of nodes each of
// which waits for the one before, that stays within the limit and in the end leaves no more bytes
// alive than before. Live bytes are a submodular function of the set of nodes that ran: where two
// sets are possible, live(A or B) + live(A and B) <= live(A) + live(B). So a chain that ran early
// does not raise the live bytes of later nodes (E. Kayaaslan et al., "Scheduling series-parallel
// task graphs to minimize peak memory", 2018; for trees J. W. H. Liu, "An application of
// generalized tree pebbling to sparse matrix factorization", 1987).

enum class OrderOutcome { found, impossible, gave_up };

struct OrderResult {
  OrderOutcome outcome = OrderOutcome::gave_up;
  std::vector<int> order;  // if found
};

// Depth first over the sets of nodes that can have run, each looked at once: exact unless it gives
// up. The limit on live bytes as in B. H. Ahn et al., "Ordering chaos: memory-aware scheduling
// of irregularly wired neural networks for edge devices", MLSys 2020. work: in nodes run, counted
// down; gives up below 0.
[[nodiscard]] OrderResult search_order(const OrderProblem& problem, int64_t limit, int64_t& work);

}  // namespace thimble::plan
