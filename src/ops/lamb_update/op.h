#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// Adam whose step follows each tensor's norm: for large batches. Source: You et al., "Large batch
// optimization for deep learning: training BERT in 76 minutes", 2020, algorithm 2.
struct LAMB {
  double lr = 1e-3;
  double beta1 = 0.9;         // share of the first moment that is kept
  double beta2 = 0.999;       // share of the second moment that is kept
  double epsilon = 1e-6;      // added to the root of the second moment
  double weight_decay = 0.0;  // added to Adam's step, times the parameter
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};

}  // namespace thimble
