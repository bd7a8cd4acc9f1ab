#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.Adadelta. Source: Zeiler, "ADADELTA: an adaptive learning rate method", 2012.
struct Adadelta {
  double lr = 1.0;
  double rho = 0.9;           // decay factor of the averages
  double epsilon = 1e-6;      // added to the averages before their roots are taken
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(Adadelta& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
