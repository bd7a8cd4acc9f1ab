// Rematerialization: values of the forward part recomputed in the backward part instead of kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/remat/schedule.h"

namespace thimble::plan {

struct RecomputeOptions {
  ArenaOptions arena;
  // The wanted peak, as the sum of live bytes of the arena; 0: as small as possible. If the target
  // cannot be reached, the result is as small as possible, too.
  int64_t target_bytes = 0;
  // Whether matrix products and convolutions may be recomputed; else only cheap ops, which cost
  // little more than reading their inputs.
  bool any_op = false;
  // If above 0, replaces target and any_op: products and convolutions of few operations per byte of
  // their result may be recomputed, up to this share of the step's work, while the space-time
  // product falls, that is bytes of the whole step times its work (Belady and Kuehner, "Dynamic
  // space-sharing in computer systems", 1969).
  double slack = 0.0;
  // Limits the search for the result's order, for results that are only measured.
  bool quick_order = false;
};

// A choice of nodes to recompute, and the graph that follows.
struct Recomputation {
  ir::Graph graph;
  int order = 0;                 // index of the given order in which nodes are counted
  std::vector<Recompute> nodes;  // empty if there is no backward part
};

// The step with some forward nodes recomputed in the backward part by the same kernels, so that
// every result has the same bits. orders: the step in one or several orders. All are tried, because
// the order with the smallest peak before recomputation need not be the best after it. A recomputed
// node runs just before the first node that reads it. The result gets its own best order.
//
// The search is greedy, by bytes freed at the peak per unit of work, as long as the peak falls. In
// the end nodes whose recomputation proves needless are kept. Chen et al., "Training deep nets with
// sublinear memory cost", 2016, for the idea; Kirisame et al., "Dynamic tensor rematerialization",
// 2021, for the choice by cost per byte.
[[nodiscard]] Recomputation find_recomputation(std::span<const ir::Graph> orders,
                                               const RecomputeOptions& options);
// The graph of a recomputation, from the order and the chosen nodes.
[[nodiscard]] ir::Graph apply_recomputation(const ir::Graph& order,
                                            const std::vector<Recompute>& nodes,
                                            const ArenaOptions& options);

// The graph of what find_recomputation finds.
[[nodiscard]] inline ir::Graph recompute(std::span<const ir::Graph> orders,
                                         const RecomputeOptions& options) {
  return find_recomputation(orders, options).graph;
}
[[nodiscard]] inline ir::Graph recompute(const ir::Graph& graph, const RecomputeOptions& options) {
  return find_recomputation({&graph, 1}, options).graph;
}

// The same for the given order, which is kept.
[[nodiscard]] ir::Graph recompute_as_ordered(const ir::Graph& graph,
                                             const RecomputeOptions& options);

// Whether there is a backward part: a node computes the loss.
[[nodiscard]] bool has_backward_part(const ir::Graph& graph);

}  // namespace thimble::plan
