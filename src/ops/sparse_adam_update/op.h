#pragma once

#include <thimble/optimizer.h>

namespace thimble {

// torch.optim.SparseAdam: Adam for embeddings with sparse gradients, whose step and moments are
// those of the rows with a gradient. It differs from Adam in the place of epsilon. Parameters with
// whole gradients, which PyTorch refuses here, are updated whole.
struct SparseAdam {
  double lr = 1e-3;
  double beta1 = 0.9;     // decay factor of the first moment
  double beta2 = 0.999;   // decay factor of the second moment
  double epsilon = 1e-8;  // added to the root of the second moment before its bias is corrected
  bool maximize = false;
  operator Optimizer() const;  // NOLINT: implicit by design
};
void describe(SparseAdam& settings, ir::FieldVisitor& visitor);

}  // namespace thimble
