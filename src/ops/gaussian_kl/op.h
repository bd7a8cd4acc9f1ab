#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct GaussianKlOptions {
  Reduction reduction = Reduction::batch_mean;
};
void describe(GaussianKlOptions& options, ir::FieldVisitor& visitor);

// Kullback-Leibler divergence of normal distributions from the standard one:
// -1/2 reduce of (1 + logvar - mean^2 - exp(logvar)). mean, logvar: [N, ...] of one shape, f32.
// Throws Error where the shapes differ. Source: Kingma and Welling 2014, appendix B.
Value gaussian_kl(Value mean, Value logvar, const GaussianKlOptions& options = {});

}  // namespace thimble
