#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// Source: Chen et al., "Symbolic discovery of optimization algorithms", 2023, algorithm 2. Needs a
// learning rate three to ten times smaller than AdamW's and a weight decay larger by the same
// factor.
struct Lion {
  double lr = 1e-4;
  double beta1 = 0.9;         // weight of the moment in the direction of a step
  double beta2 = 0.99;        // decay factor of the moment
  double weight_decay = 0.0;  // each step multiplies parameters by 1 - lr * weight_decay
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(Lion& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
