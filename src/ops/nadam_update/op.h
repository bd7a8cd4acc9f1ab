#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.NAdam: Adam with Nesterov's momentum. Source: Dozat, "Incorporating Nesterov momentum
// into Adam", 2016.
struct NAdam {
  double lr = 2e-3;
  double beta1 = 0.9;            // decay factor of the first moment
  double beta2 = 0.999;          // decay factor of the second moment
  double epsilon = 1e-8;         // added to the root of the second moment
  double weight_decay = 0.0;     // added to the gradient, times the parameter
  double momentum_decay = 4e-3;  // of the momentum's warm-up: 1 - 0.96^(t * momentum_decay) / 2
  bool decoupled_weight_decay = false;  // weight decay shrinks the parameter itself
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(NAdam& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
