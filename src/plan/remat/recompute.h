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
  // The largest sum of bytes alive in the arena that is asked for; 0: as small as it gets, and so
  // is the result where it is found to be out of reach.
  int64_t target_bytes = 0;
  // Matrix products and convolutions may be recomputed as well; else cheap ops alone, those that
  // cost little more than reading their inputs.
  bool any_op = false;
  // Above 0, instead of a target and any_op: products and convolutions of few operations per byte
  // made may be recomputed, up to this share of the step's work, while the space-time product
  // falls: bytes of the whole step times its work (Belady and Kuehner, "Dynamic space-sharing in
  // computer systems", 1969).
  double slack = 0.0;
  // The search for the order of the result ends soon: for results that are only measured.
  bool quick_order = false;
};

// A choice of nodes to recompute, and the graph that follows.
struct Recomputation {
  ir::Graph graph;
  int order = 0;                 // of the given ones, in which nodes are counted
  std::vector<Recompute> nodes;  // empty: there is no backward part
};

// The step with some forward nodes recomputed in the backward part, by the same kernels, so that
// every result has the same bits. orders: the step in one or several orders; all are tried, since
// the one with the smallest peak before need not have it after. A recomputed node runs just before
// the first node that reads it. The result is put into its own best order.
//
// Greedy, by bytes freed at the peak per unit of work, as long as the peak falls; nodes whose
// recomputation proves needless are kept in the end. Chen et al., "Training deep nets with
// sublinear memory cost", 2016, for the idea; Kirisame et al., "Dynamic tensor rematerialization",
// 2021, for the choice by cost per byte.
[[nodiscard]] Recomputation find_recomputation(std::span<const ir::Graph> orders,
                                               const RecomputeOptions& options);
// Its graph, from the order and the nodes that were chosen.
[[nodiscard]] ir::Graph apply_recomputation(const ir::Graph& order,
                                            const std::vector<Recompute>& nodes,
                                            const ArenaOptions& options);

// The graph alone.
[[nodiscard]] inline ir::Graph recompute(std::span<const ir::Graph> orders,
                                         const RecomputeOptions& options) {
  return find_recomputation(orders, options).graph;
}
[[nodiscard]] ir::Graph recompute(const ir::Graph& graph, const RecomputeOptions& options);

// recompute for the given order alone, which is kept.
[[nodiscard]] ir::Graph recompute_as_ordered(const ir::Graph& graph,
                                             const RecomputeOptions& options);

// Whether there is a backward part: a loss that a node computes.
[[nodiscard]] bool has_backward_part(const ir::Graph& graph);

}  // namespace thimble::plan
