#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.RMSprop. Source: Tieleman and Hinton, lecture 6.5 of "Neural networks for machine
// learning", 2012; centered: Graves, "Generating sequences with recurrent neural networks", 2013.
struct RMSProp {
  double lr = 1e-2;
  double alpha = 0.99;    // decay factor of the averages
  double epsilon = 1e-8;  // keeps the divisor above 0
  double momentum = 0.0;
  bool centered = false;      // divide by the root of the variance, not of the mean square
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool maximize = false;
  bool epsilon_inside_root = false;  // divide by sqrt(v + epsilon), not by sqrt(v) + epsilon
  operator Optimizer() const;        // NOLINT: implicit by design
};
void describe(RMSProp& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
