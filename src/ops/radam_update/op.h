#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.RAdam: Adam that uses its second moment only once its variance is small enough.
// Source: Liu et al., "On the variance of the adaptive learning rate and beyond", 2020.
struct RAdam {
  double lr = 1e-3;
  double beta1 = 0.9;                   // decay factor of the first moment
  double beta2 = 0.999;                 // decay factor of the second moment
  double epsilon = 1e-8;                // added to the root of the second moment
  double weight_decay = 0.0;            // added to the gradient, times the parameter
  bool decoupled_weight_decay = false;  // weight decay shrinks the parameter itself
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(RAdam& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
