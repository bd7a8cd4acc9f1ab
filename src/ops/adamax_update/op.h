#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.Adamax. Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015,
// algorithm 2.
struct Adamax {
  double lr = 2e-3;
  double beta1 = 0.9;         // decay factor of the first moment
  double beta2 = 0.999;       // decay factor of the largest magnitude
  double epsilon = 1e-8;      // added to the gradient's magnitude
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(Adamax& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
