// Measured times of a step that was run before training, and their use in planning.
#pragma once

#include <vector>

#include "plan/budget/search.h"
#include "plan/node_times.h"
#include "plan/swap/rates.h"

namespace thimble::plan {

// Medians of several steps in milliseconds; all but node times are of the later half of the steps.
struct Rehearsal {
  std::vector<double> node_ms;
  double step_ms = 0.0;
  double busy_ms = 0.0;   // while transfers were in progress
  double stall_ms = 0.0;  // while the step waited for transfers
};

// times: receives the times of all nodes except transfers. rates: the rates the step was planned
// with, scaled to the measured time of the file with its staging buffers.
void learn(const Rehearsal& rehearsal, const Fitted& step, NodeTimes& times, SwapRates& rates);

}  // namespace thimble::plan
