#pragma once

#include <thimble/optimizer.h>

#include <cstdint>

namespace thimble {

// torch.optim.Adam. Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015;
// amsgrad: Reddi et al., "On the convergence of Adam and beyond", 2018.
// state_bits = 8: Dettmers et al., "8-bit optimizers via block-wise quantization", 2022.
struct Adam {
  double lr = 1e-3;
  double beta1 = 0.9;         // decay factor of the first moment
  double beta2 = 0.999;       // decay factor of the second moment
  double epsilon = 1e-8;      // added to the root of the second moment
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool amsgrad = false;       // divide by the largest second moment so far
  bool maximize = false;
  int64_t state_bits =
      32;  // 8: one byte per element of a moment, in blocks of 256 with one scale each
  int64_t min_8bit_size = 4096;         // tensors with fewer elements keep 32 bits
  bool decoupled_weight_decay = false;  // as in AdamW
  bool epsilon_hat = false;             // see AdamW
  operator Optimizer() const;           // NOLINT: implicit by design
};
void describe(Adam& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
