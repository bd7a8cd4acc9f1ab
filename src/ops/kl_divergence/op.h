#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct KlDivergenceOptions {
  bool log_target = false;  // the target is given as log probabilities, too
  Reduction reduction = Reduction::mean;
};
void describe(KlDivergenceOptions& options, ir::FieldVisitor& visitor);

// Kullback-Leibler divergence of a target distribution from its estimate: reduce of
// t (log t - x), x the logarithm of the estimate; terms with t = 0 are 0. With log_target, of
// exp(t) (t - x). Both: any one shape, f32. The mean is over all elements, as in PyTorch; the
// divergence itself is the sum, or batch_mean.
// Throws Error where the shapes differ.
Value kl_divergence(Value log_estimate, Value target, const KlDivergenceOptions& options = {});

}  // namespace thimble
