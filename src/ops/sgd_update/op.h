#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// Stochastic gradient descent. Source: Sutskever et al., "On the importance of initialization and
// momentum in deep learning", 2013, as torch.optim.SGD has it.
struct SGD {
  double lr = 1e-3;
  double momentum = 0.0;  // decay factor of the momentum
  double dampening =
      0.0;  // fraction of the gradient that is not added to the momentum; not in the first step
  bool nesterov = false;      // needs momentum > 0 and dampening = 0
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(SGD& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
