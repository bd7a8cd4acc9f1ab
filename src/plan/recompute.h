// Values of the forward part that are computed again in the backward part instead of being kept.
#pragma once

#include <cstdint>

#include "ir/graph.h"
#include "plan/arena.h"

namespace thimble::plan {

struct RecomputeOptions {
  ArenaOptions arena;
  // The largest sum of bytes alive in the arena that is asked for; 0: as small as it gets.
  int64_t target_bytes = 0;
  // Ops that multiply matrices or convolve may run again, too; else only those that cost little
  // more than to read what they read.
  bool any_op = false;
};

// A step, some of whose forward nodes run a second time, just before the first node of the backward
// part that reads what they make: by the same kernels, so that every result has the same bits. Its
// nodes stand in the order in which they will run; their order stays as it is.
//
// Greedy, by bytes freed at the fullest moment for the work it takes, as long as the peak falls;
// what proves needless in the end is kept after all. Chen et al., "Training deep nets with
// sublinear memory cost", 2016, for the idea; Kirisame et al., "Dynamic tensor rematerialization",
// 2021, for the choice by cost per byte.
[[nodiscard]] ir::Graph recompute(const ir::Graph& graph, const RecomputeOptions& options);

// recompute with the least work that brings the packed arena into a budget (bytes; 0: none); as
// small as it gets where there is no such.
[[nodiscard]] ir::Graph fit_arena(const ir::Graph& graph, const ArenaOptions& options,
                                  int64_t budget);

}  // namespace thimble::plan
