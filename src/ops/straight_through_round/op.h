#pragma once

#include <thimble/graph.h>

namespace thimble {

// x rounded to whole numbers, ties to even, with the gradient passed on as if it had not been
// rounded (the straight-through estimator). x: any shape, f32. Source: Bengio, Leonard and
// Courville, "Estimating or propagating gradients through stochastic neurons", 2013.
Value straight_through_round(Value x);

}  // namespace thimble
