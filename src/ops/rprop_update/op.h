#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.Rprop: steps whose sizes grow while a gradient keeps its sign and shrink where it
// turns; for whole data sets at a time. The learning rate is the first size of every step and
// nothing afterwards. Source: Riedmiller and Braun, "A direct adaptive method for faster
// backpropagation learning: the RPROP algorithm", 1993.
struct Rprop {
  double lr = 1e-2;
  double eta_minus = 0.5;       // factor of a size where the gradient has turned, below 1
  double eta_plus = 1.2;        // factor of a size where it has not, above 1
  double step_size_min = 1e-6;  // limits of sizes
  double step_size_max = 50.0;
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};

}  // namespace thimble
