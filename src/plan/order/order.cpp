#include "plan/order/order.h"

#include <algorithm>

#include "ir/rewrite.h"
#include "plan/lifetimes.h"
#include "plan/nth.h"
#include "plan/order/search.h"

namespace thimble::plan {
namespace {

// Picks the next of the nodes that are ready.
using NextNode = int (*)(const OrderRun& run);

// The natural order, but a node that adds no live bytes runs as soon as it can, such as an update
// right after its gradient.
int natural_but_eager(const OrderRun& run) {
  for (const int node : run.ready()) {
    if (run.cost(node).after <= 0) return node;
  }
  return run.ready().front();
}

// The node that leaves the fewest bytes alive.
int smallest_change(const OrderRun& run) { return smallest_change(run, run.ready()); }

constexpr NextNode kChoices[] = {natural_but_eager, smallest_change};

std::vector<int> list_schedule(const OrderProblem& problem, NextNode choose) {
  OrderRun run(problem);
  while (!run.done()) run.run(choose(run));
  return run.order();
}

ir::Graph in_order(const ir::Graph& graph, const std::vector<int>& order) {
  ir::Rewriter rewriter(graph);
  for (const int n : order) rewriter.copy(nth(graph.nodes, n));
  return std::move(rewriter).finish();
}

}  // namespace

NodeOrder best_order(const OrderProblem& problem, int64_t most_work) {
  NodeOrder best;
  best.bound_bytes = order_bound(problem);
  const auto take = [&](std::vector<int> order) {
    const int64_t peak = peak_of(problem, order);
    if (!best.nodes.empty() && peak >= best.peak_bytes) return;
    best.nodes = std::move(order);
    best.peak_bytes = peak;
  };
  for (const NextNode choice : kChoices) take(list_schedule(problem, choice));
  take(problem.natural());
  // Returns false if the order is optimal or the search gave up.
  const auto improve = [&](int64_t limit, int64_t& work) {
    if (best.peak_bytes <= best.bound_bytes) return false;
    OrderResult result = search_order(problem, limit, work);
    if (result.outcome == OrderOutcome::found) take(std::move(result.order));
    if (result.outcome == OrderOutcome::impossible) best.bound_bytes = limit + 1;
    return result.outcome != OrderOutcome::gave_up;
  };
  int64_t work = problem.size() <= kExactNodes ? INT64_MAX : most_work;
  int64_t some = work / 4;  // if an order at the bound exists, the search finds it soon
  work -= some;
  improve(best.bound_bytes, some);
  while (improve(best.peak_bytes - 1, work)) {
  }
  best.optimal = best.peak_bytes <= best.bound_bytes;
  return best;
}

ir::Graph order_nodes(const ir::Graph& graph, const ArenaOptions& options, int64_t most_work) {
  const OrderProblem problem(graph, options);
  ir::Graph natural = in_order(graph, problem.natural());
  ir::Graph best = in_order(graph, best_order(problem, most_work).nodes);
  // The plan's own measure decides.
  return live_peak_bytes(best, options) <= live_peak_bytes(natural, options) ? best : natural;
}

std::vector<ir::Graph> orders_of(const ir::Graph& graph, const ArenaOptions& options) {
  const OrderProblem problem(graph, options, true);
  std::vector<ir::Graph> graphs{order_nodes(graph, options)};
  for (const NextNode choice : kChoices) {
    graphs.push_back(in_order(graph, list_schedule(problem, choice)));
  }
  return graphs;
}

int64_t live_peak_bytes(const ir::Graph& graph, const ArenaOptions& options) {
  const Sequence sequence = sequence_of(graph, workspaces(graph, options));
  return largest(live_bytes(sequence, Sharing(sequence, options.in_place)));
}

}  // namespace thimble::plan
