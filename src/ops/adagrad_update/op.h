#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.Adagrad. Source: Duchi et al., "Adaptive subgradient methods for online learning and
// stochastic optimization", 2011.
struct Adagrad {
  double lr = 1e-2;
  double lr_decay = 0.0;                   // the rate of step t is lr / (1 + (t - 1) * lr_decay)
  double weight_decay = 0.0;               // added to the gradient, times the parameter
  double initial_accumulator_value = 0.0;  // initial value of the sum of squares
  double epsilon = 1e-10;                  // added to the root of the sum of squares
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(Adagrad& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
