#pragma once

#include <thimble/graph.h>

namespace thimble {

struct BatchNormGradAttrs {
  double epsilon = 1e-5;  // of the batch_norm
};
void describe(BatchNormGradAttrs& attrs, ir::FieldVisitor& visitor);

struct BatchNormGrads {
  Value dx;      // [N, ..., C]
  Value dgamma;  // [C]
  Value dbeta;   // [C]
};

// The gradients of batch_norm in training, including those through the statistics. dy, x: [N, ...,
// C]; mean, variance: [C], the statistics of x; gamma: [C] or none. Errors: Error if shapes differ
// or a channel has one value only.
BatchNormGrads batch_norm_grad(Value dy, Value x, Value mean, Value variance, Value gamma,
                               const BatchNormGradAttrs& attrs = {});

}  // namespace thimble
