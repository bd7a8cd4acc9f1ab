#include "plan/budget/rehearsal.h"

#include "plan/swap/swap.h"

namespace thimble::plan {

void learn(const Rehearsal& rehearsal, const Fitted& step, NodeTimes& times, SwapRates& rates) {
  times.set(step.graph, rehearsal.node_ms);
  const int64_t staging = step.arena.plan.staging_bytes;
  const SwapCosts costs = rates.with_staging(staging).costs(rehearsal.node_ms);
  const double predicted_ms = transfer_times(step.graph, costs).busy_ms;
  if (predicted_ms > 0.0) rates.scale(rehearsal.busy_ms / predicted_ms, staging);
}

}  // namespace thimble::plan
