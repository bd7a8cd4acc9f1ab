#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.ASGD: stochastic gradient descent that also keeps the average of the parameters since
// step t0, in the state "<parameter>.ax". Source: Polyak and Juditsky, "Acceleration of stochastic
// approximation by averaging", 1992.
struct ASGD {
  double lr = 1e-2;
  double lambd = 1e-4;        // each step multiplies parameters by 1 - lambd * eta
  double alpha = 0.75;        // eta of the next step: lr / (1 + lambd * lr * step)^alpha
  double t0 = 1e6;            // the step after which averages begin
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(ASGD& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
