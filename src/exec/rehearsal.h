// A step is run before training starts, to see how long it takes.
#pragma once

#include <vector>

#include "exec/program.h"
#include "exec/swap_file.h"
#include "plan/budget/search.h"
#include "plan/node_times.h"

namespace thimble::exec {

// Medians of some steps, of their later half but for the nodes; milliseconds.
struct Rehearsal {
  std::vector<double> node_ms;
  double step_ms = 0.0;
  double busy_ms = 0.0;   // while the file had transfers under way
  double stall_ms = 0.0;  // while the step waited for it
};

// Runs a step with all its transfers some times, fewer where it takes long, on inputs of zeros and
// whatever else the memory holds, which is lost. What the step fetches must be in the file. Throws
// Error where the file fails.
[[nodiscard]] Rehearsal rehearse(Session& session, const SwapFile& file);

// times: gets that of every node but the transfers. rates: by which the program was planned, scaled
// to how long the file was busy with its staging.
void learn(const Rehearsal& rehearsal, const Program& program, plan::NodeTimes& times,
           plan::SwapRates& rates);

}  // namespace thimble::exec
