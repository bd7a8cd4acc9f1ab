#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// Momentum with rates scaled to each tensor's norm, for large batches. Source: You et al., "Large
// batch training of convolutional networks", 2017, algorithm 1.
struct LARS {
  double lr = 0.1;
  double momentum = 0.9;
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  double trust_coefficient =
      1e-3;               // length of a step of rate 1, as a fraction of the parameter's norm
  double epsilon = 1e-8;  // added to the gradient's norm
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(LARS& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
