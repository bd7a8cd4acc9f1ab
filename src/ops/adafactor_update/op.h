#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.Adafactor: a second moment that is kept as one number a row and one a column of the
// last two dimensions, so that its memory is next to nothing. Source: Shazeer and Stern,
// "Adafactor: adaptive learning rates with sublinear memory cost", 2018.
struct Adafactor {
  double lr = 1e-2;           // at most; a step takes the smaller of it and 1 / sqrt(step)
  double beta2_decay = -0.8;  // the second moment takes a share of step^beta2_decay of the new
  double epsilon1 = 0x1p-23;  // smallest root of a second moment; PyTorch's None for float32
  double epsilon2 = 1e-3;     // smallest scale of a parameter
  double d = 1.0;             // largest root of the mean square of a step
  double weight_decay = 0.0;  // each step multiplies parameters by 1 - lr * weight_decay
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};

}  // namespace thimble
