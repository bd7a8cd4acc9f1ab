#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.AdamW: Adam whose weight decay shrinks the parameter itself. Source: Loshchilov and
// Hutter, "Decoupled weight decay regularization", 2019.
struct AdamW {
  double lr = 1e-3;
  double beta1 = 0.9;          // share of the first moment that is kept
  double beta2 = 0.999;        // share of the second moment that is kept
  double epsilon = 1e-8;       // added to the root of the second moment
  double weight_decay = 0.01;  // each step multiplies parameters by 1 - lr * weight_decay
  bool amsgrad = false;        // divide by the largest second moment so far
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};

}  // namespace thimble
