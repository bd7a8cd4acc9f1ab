#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// Adam with steps scaled to each tensor's norm, for large batches. Source: You et al., "Large batch
// optimization for deep learning: training BERT in 76 minutes", 2020, algorithm 2.
struct LAMB {
  double lr = 1e-3;
  double beta1 = 0.9;         // decay factor of the first moment
  double beta2 = 0.999;       // decay factor of the second moment
  double epsilon = 1e-6;      // added to the root of the second moment
  double weight_decay = 0.0;  // added to Adam's step, times the parameter
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(LAMB& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
