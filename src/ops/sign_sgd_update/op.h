#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// Steps of one size: only the sign of the gradient, or of its momentum, counts. Source: Bernstein
// et al., "signSGD: compressed optimisation for non-convex problems", 2018; with a momentum:
// Signum.
struct SignSGD {
  double lr = 1e-3;
  double momentum = 0.0;                // share of the gradients' average that is kept
  double weight_decay = 0.0;            // added to the gradient, times the parameter
  bool decoupled_weight_decay = false;  // weight decay shrinks the parameter itself
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};

}  // namespace thimble
