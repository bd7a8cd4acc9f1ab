// Runs a step before training starts to measure its time.
#pragma once

#include <vector>

#include "exec/program.h"
#include "exec/swap_file.h"
#include "plan/budget/search.h"
#include "plan/node_times.h"

namespace thimble::exec {

// Medians of several steps in milliseconds; all but node times are of the later half of the steps.
struct Rehearsal {
  std::vector<double> node_ms;
  double step_ms = 0.0;
  double busy_ms = 0.0;   // while transfers were in progress
  double stall_ms = 0.0;  // while the step waited for transfers
};

// Runs a step with all its transfers several times, fewer if it takes long, with inputs of zeros
// and arbitrary contents in other memory, which are lost. Values that the step fetches must be in
// the file. Throws Error if the file fails.
[[nodiscard]] Rehearsal rehearse(Session& session, const SwapFile& file);

// times: receives the times of all nodes except transfers. rates: the rates the program was planned
// with, scaled to the measured time of the file with its staging buffers.
void learn(const Rehearsal& rehearsal, const Program& program, plan::NodeTimes& times,
           plan::SwapRates& rates);

}  // namespace thimble::exec
