#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct PoissonNllOptions {
  bool log_input = true;  // x is the logarithm of the rate
  bool full = false;      // with Stirling's term
  double epsilon = 1e-8;  // added to rates in logarithms
  Reduction reduction = Reduction::mean;
};

// Negative log likelihood of counts t under Poisson distributions of rate exp(x): reduce of
// exp(x) - t x; without log_input of rate x: x - t log(x + epsilon). full adds Stirling's t log
// t - t + log(2 pi t) / 2 where t > 1. Both: any one shape, f32. Equal to
// torch.nn.functional.poisson_nll_loss. Throws Error where the shapes differ.
Value poisson_nll(Value x, Value target, const PoissonNllOptions& options = {});

}  // namespace thimble
