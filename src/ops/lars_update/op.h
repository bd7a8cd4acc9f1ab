#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// Momentum whose rate follows each tensor's norm: for large batches. Source: You et al., "Large
// batch training of convolutional networks", 2017, algorithm 1.
struct LARS {
  double lr = 0.1;
  double momentum = 0.9;
  double weight_decay = 0.0;        // added to the gradient, times the parameter
  double trust_coefficient = 1e-3;  // how far, of the parameter's norm, a step of rate 1 goes
  double epsilon = 1e-8;            // added to the gradient's norm
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};

}  // namespace thimble
