#pragma once

#include <thimble/optimizer.h>

#include <cstdint>

namespace thimble {

// Stochastic gradient descent. Source: Sutskever et al., "On the importance of initialization and
// momentum in deep learning", 2013, as torch.optim.SGD has it.
// state_bits = 8: Dettmers et al., "8-bit optimizers via block-wise quantization", 2022.
struct SGD {
  double lr = 1e-3;
  double momentum = 0.0;  // decay factor of the momentum
  double dampening =
      0.0;  // fraction of the gradient that is not added to the momentum; not in the first step
  bool nesterov = false;      // needs momentum > 0 and dampening = 0
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool maximize = false;
  int64_t state_bits =
      32;  // 8: one byte per element of the momentum, in blocks with one scale each
  int64_t min_8bit_size = 4096;  // tensors with fewer elements keep 32 bits
  operator Optimizer() const;    // NOLINT: implicit by design
};
void describe(SGD& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
