// Runs a step before training starts to measure its time.
#pragma once

#include "exec/program.h"
#include "exec/swap_file.h"
#include "plan/budget/rehearsal.h"

namespace thimble::exec {

using plan::Rehearsal;

// Runs a step with all its transfers several times, fewer if it takes long, with inputs of zeros
// and arbitrary contents in other memory, which are lost. Values that the step fetches must be in
// the file. Throws Error if the file fails.
[[nodiscard]] Rehearsal rehearse(Session& session, const SwapFile& file);
// The same, with no more steps after so many seconds; one after the first at least.
[[nodiscard]] Rehearsal rehearse_for(double seconds, Session& session, const SwapFile& file);

}  // namespace thimble::exec
