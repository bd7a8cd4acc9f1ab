#pragma once

#include <thimble/optimizer.h>

#include <cstdint>

namespace thimble {

// torch.optim.AdamW: Adam whose weight decay shrinks the parameter itself. Source: Loshchilov and
// Hutter, "Decoupled weight decay regularization", 2019.
// state_bits = 8: Dettmers et al., "8-bit optimizers via block-wise quantization", 2022.
struct AdamW {
  double lr = 1e-3;
  double beta1 = 0.9;          // decay factor of the first moment
  double beta2 = 0.999;        // decay factor of the second moment
  double epsilon = 1e-8;       // added to the root of the second moment
  double weight_decay = 0.01;  // each step multiplies parameters by 1 - lr * weight_decay
  bool amsgrad = false;        // divide by the largest second moment so far
  bool maximize = false;
  int64_t state_bits =
      32;  // 8: one byte per element of a moment, in blocks of 256 with one scale each
  int64_t min_8bit_size = 4096;  // tensors with fewer elements keep 32 bits
  // epsilon is added to the root of the second moment before that is freed of its bias: the
  // epsilon-hat of Kingma and Ba, "Adam", 2015, section 2, as Keras has it.
  bool epsilon_hat = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(AdamW& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
