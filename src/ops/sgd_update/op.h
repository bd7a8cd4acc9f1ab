#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// Stochastic gradient descent. Source: Sutskever et al., "On the importance of initialization and
// momentum in deep learning", 2013, as torch.optim.SGD has it.
struct SGD {
  double lr = 1e-3;
  double momentum = 0.0;   // share of the last change that is kept
  double dampening = 0.0;  // share of the gradient left out of the momentum; not in the first step
  bool nesterov = false;   // needs a momentum and no dampening
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};

}  // namespace thimble
