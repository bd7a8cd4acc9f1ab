#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct BatchNormInferenceAttrs {
  double epsilon = 1e-5;                     // added to the variance
  Activation activation = Activation::none;  // applied to the result
};
void describe(BatchNormInferenceAttrs& attrs, ir::FieldVisitor& visitor);

// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, channel by channel.
// x: [N, ..., C]; gamma, beta: [C] or none (1 and 0); mean, variance: [C]; f32.
// Errors: Error where shapes differ.
Value batch_norm_inference(Value x, Value gamma, Value beta, Value mean, Value variance,
                           const BatchNormInferenceAttrs& attrs = {});

}  // namespace thimble
