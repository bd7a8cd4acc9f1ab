#pragma once

#include <thimble/graph.h>

namespace thimble {

struct AverageWeightsOptions {
  double decay = 0.999;  // decay factor of the average, below 1
};
void describe(AverageWeightsOptions& options, ir::FieldVisitor& visitor);

// average = decay * average + (1 - decay) * param, in place; the first step copies param. average:
// a state of param's shape, f32. step: one i32, this update's number, from 1; 0 changes nothing.
// Returns the new average. Equal to torch.optim.swa_utils.AveragedModel with get_ema_multi_avg_fn.
// Source: Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", 1992.
Value average_weights(Value average, Value param, Value step, const AverageWeightsOptions& options);

}  // namespace thimble
