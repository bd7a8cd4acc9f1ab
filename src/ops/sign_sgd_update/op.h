#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// Steps of equal size: only the sign of the gradient, or of its momentum, is used. Source:
// Bernstein et al., "signSGD: compressed optimisation for non-convex problems", 2018; with a
// momentum: Signum.
struct SignSGD {
  double lr = 1e-3;
  double momentum = 0.0;                // decay factor of the gradients' average
  double weight_decay = 0.0;            // added to the gradient, times the parameter
  bool decoupled_weight_decay = false;  // weight decay shrinks the parameter itself
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(SignSGD& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
