#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct GaussianNllOptions {
  bool full = false;      // with the constant term
  double epsilon = 1e-6;  // lower bound of the variance
  Reduction reduction = Reduction::mean;
};

// Negative log likelihood of targets under normal distributions: reduce of (log v + (mean -
// target)^2 / v) / 2 with v = max(variance, epsilon), plus log(2 pi) / 2 where full. mean, target,
// variance: shapes that broadcast, f32. Equal to torch.nn.functional.gaussian_nll_loss. Throws
// Error where the shapes do not fit.
Value gaussian_nll(Value mean, Value target, Value variance,
                   const GaussianNllOptions& options = {});

}  // namespace thimble
