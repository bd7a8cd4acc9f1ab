// A search by small random changes for the nodes to recompute.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/remat/schedule.h"

namespace thimble::plan {

// A choice of less work, or nearer to the target where that is missed, than the one given; never a
// worse one. open: nodes that may be changed. target_bytes: of the peak; at least 1. Random moves
// are taken where they make it no worse than a threshold allows, which falls to nothing: Dueck and
// Scheuer, "Threshold accepting", 1990. Deterministic.
[[nodiscard]] RematSchedule anneal(const ScheduleBuilder& builder, const std::vector<int>& open,
                                   RematSchedule start, int64_t target_bytes);

}  // namespace thimble::plan
