#pragma once

#include <thimble/graph.h>

namespace thimble {

struct AccumulateGradientOptions {
  double weight = 1.0;  // weight of this gradient in the sum
};
void describe(AccumulateGradientOptions& options, ir::FieldVisitor& visitor);

// sum += weight * grad, in place. sum: a state of grad's shape, f32. Returns the new sum.
Value accumulate_gradient(Value sum, Value grad, const AccumulateGradientOptions& options);

// (sum + weight * grad) / total: the mean of all gradients added since the last mean and of this
// one; sets sum to 0. total: one f32, the sum of all these weights.
Value mean_gradient(Value sum, Value grad, Value total, const AccumulateGradientOptions& options);

}  // namespace thimble
