#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.Rprop: step sizes grow while a gradient keeps its sign and shrink when the sign
// changes; for training on whole data sets. The learning rate is the initial size of every step and
// has no effect later. Source: Riedmiller and Braun, "A direct adaptive method for faster
// backpropagation learning: the RPROP algorithm", 1993.
struct Rprop {
  double lr = 1e-2;
  double eta_minus = 0.5;       // factor of the size when the sign of a gradient changes, below 1
  double eta_plus = 1.2;        // factor of the size when it does not change, above 1
  double step_size_min = 1e-6;  // limits of the sizes
  double step_size_max = 50.0;
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(Rprop& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
