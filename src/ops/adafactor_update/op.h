#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.Adafactor: keeps the second moment as one number for each row and each column of the
// last two dimensions, so that its memory is negligible. Source: Shazeer and Stern, "Adafactor:
// adaptive learning rates with sublinear memory cost", 2018.
struct Adafactor {
  double lr = 1e-2;  // largest rate; a step uses the smaller of it and 1 / sqrt(step)
  double beta2_decay =
      -0.8;  // step^beta2_decay is the weight of the new squares in the second moment
  double epsilon1 = 0x1p-23;  // smallest root of a second moment; float32's value of PyTorch's None
  double epsilon2 = 1e-3;     // smallest scale of a parameter
  double d = 1.0;             // largest root mean square of a step
  double weight_decay = 0.0;  // each step multiplies parameters by 1 - lr * weight_decay
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(Adafactor& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
