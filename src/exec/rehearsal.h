// A step is run before training starts, to see how long it takes.
#pragma once

#include "exec/program.h"
#include "exec/swap_file.h"
#include "plan/ladder.h"
#include "plan/node_times.h"

namespace thimble::exec {

// Runs a step with all its transfers some times, fewer where it takes long, on inputs of zeros and
// whatever else the memory holds, which is lost. What the step fetches must be in the file.
// times: gets the median time of every node but the transfers. rates: by which the step was
// planned, scaled to how long the file was busy with the staging of the plan, the median again.
// Throws Error where the file fails.
void rehearse(Session& session, const SwapFile& file, plan::NodeTimes& times,
              plan::SwapRates& rates);

}  // namespace thimble::exec
