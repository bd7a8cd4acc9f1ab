#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct SmoothL1Options {
  double beta = 1.0;  // where the loss changes from quadratic to linear
  Reduction reduction = Reduction::mean;
};

// Smooth L1 loss: reduce of d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, with d =
// prediction - target: huber divided by its delta; mae for beta 0. Both: any one shape, f32.
// Throws Error where the shapes differ or beta is negative. Source: Girshick, "Fast R-CNN",
// 2015.
Value smooth_l1(Value prediction, Value target, const SmoothL1Options& options = {});

}  // namespace thimble
