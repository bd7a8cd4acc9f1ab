// A search by small random changes for the nodes to recompute.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/remat/schedule.h"

namespace thimble::plan {

// Returns a choice of less work than `start`, or nearer to the target if that is missed; never a
// worse one. open: nodes that may be changed. target_bytes: of the peak; at least 1. A random move
// is taken if it makes the choice worse by no more than a threshold, which falls to zero: Dueck and
// Scheuer, "Threshold accepting", 1990. Deterministic.
[[nodiscard]] RematSchedule anneal(const ScheduleBuilder& builder, const std::vector<int>& open,
                                   RematSchedule start, int64_t target_bytes);

}  // namespace thimble::plan
