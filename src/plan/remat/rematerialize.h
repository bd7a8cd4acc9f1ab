// Values of the forward part that are computed again in the backward part instead of being kept.
#pragma once

#include <cstdint>
#include <span>

#include "ir/graph.h"
#include "plan/arena.h"

namespace thimble::plan {

struct RecomputeOptions {
  ArenaOptions arena;
  // The largest sum of bytes alive in the arena that is asked for; 0: as small as it gets, and so
  // is the result where it is found to be out of reach.
  int64_t target_bytes = 0;
  // Ops that multiply matrices or convolve may run again, too; else only those that cost little
  // more than to read what they read.
  bool any_op = false;
  // Above 0, in the place of a target and of any_op: products and convolutions that take few
  // operations for a byte they make may run again, as far as they are no more than this share of
  // the step's work, and as far as the space-time product falls: bytes of the whole step times its
  // work (Belady and Kuehner, "Dynamic space-sharing in computer systems", 1969).
  double slack = 0.0;
  // For a result that is looked at alone: the search for its order ends soon.
  bool quick_order = false;
};

// A step, some of whose forward nodes run a second time in the backward part: by the same kernels,
// so that every result has the same bits. orders: the step in one or several orders, in which what
// runs again runs just before the first node that reads what it makes. That with the smallest peak
// in the end need not be the one with the smallest peak before, so all are tried. The result is put
// into the best order of its own.
//
// Greedy, by bytes freed at the fullest moment for the work it takes, as long as the peak falls;
// what proves needless in the end is kept after all. Chen et al., "Training deep nets with
// sublinear memory cost", 2016, for the idea; Kirisame et al., "Dynamic tensor rematerialization",
// 2021, for the choice by cost per byte.
[[nodiscard]] ir::Graph recompute(std::span<const ir::Graph> orders,
                                  const RecomputeOptions& options);
[[nodiscard]] ir::Graph recompute(const ir::Graph& graph, const RecomputeOptions& options);

// recompute for the order given alone, which stays as it is.
[[nodiscard]] ir::Graph recompute_as_ordered(const ir::Graph& graph,
                                             const RecomputeOptions& options);

// Whether there is a backward part: a loss that a node computes.
[[nodiscard]] bool has_late_part(const ir::Graph& graph);

}  // namespace thimble::plan
