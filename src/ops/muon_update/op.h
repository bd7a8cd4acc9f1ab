#pragma once

#include <thimble/optimizer.h>

#include <cstdint>

namespace thimble {

// Momentum whose step is made orthogonal, for matrices: parameters of two dimensions. All others
// (biases, norms, convolutions) take steps of AdamW at a rate of their own, which follows the
// schedule of lr. Five matrix products of the parameter's size a step; nothing is kept but the
// momentum. Source: Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024;
// of matrices equal to torch.optim.Muon, which computes the iteration in bfloat16, here float32.
struct Muon {
  double lr = 1e-3;           // of matrices
  double weight_decay = 0.1;  // each step multiplies matrices by 1 - lr * weight_decay
  double momentum = 0.95;     // decay factor of the average gradient
  bool nesterov = true;       // the step looks ahead along the momentum
  double ns_a = 3.4445;       // coefficients of the Newton-Schulz iteration
  double ns_b = -4.7750;      // X = a X + (b A + c A^2) X with A = X X^T
  double ns_c = 2.0315;
  int64_t ns_steps = 5;          // iterations
  double epsilon = 1e-7;         // lower bound of the norm in the divisor
  bool match_rms_adamw = false;  // rate * 0.2 sqrt(max(rows, columns)), of a size that suits
                                 // AdamW; else rate * sqrt(max(1, rows / columns))
  double adamw_lr = 3e-4;        // of all others, where lr is that of the settings
  double adamw_beta1 = 0.9;
  double adamw_beta2 = 0.95;
  double adamw_epsilon = 1e-10;
  double adamw_weight_decay = 0.0;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(Muon& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
