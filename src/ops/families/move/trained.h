// Gradients of weights that are trained in part (ir::TrainedPart), for gradient rules.
#pragma once

#include <thimble/graph.h>

namespace thimble::ops {

// The slices of x along an axis that stand for the trained indices of the weight's axis; x itself
// where all of the weight, or a part along another axis, is trained.
[[nodiscard]] Value trained_slices(Value x, int axis, Value weight, int weight_axis);

}  // namespace thimble::ops
