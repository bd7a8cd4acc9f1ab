#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

// The cross-entropy between probabilities t and x: reduce of -weight (t max(log x, -100) + (1 -
// t) max(log(1 - x), -100)); from logits rather binary_cross_entropy_with_logits, which keeps
// small terms. x, target: any one shape, in [0, 1]; weight: a shape that broadcasts, or none;
// f32. Equal to torch.nn.functional.binary_cross_entropy. Throws
// Error where the shapes do not fit.
Value binary_cross_entropy(Value x, Value target, Value weight, const LossOptions& options);
inline Value binary_cross_entropy(Value x, Value target, const LossOptions& options = {}) {
  return binary_cross_entropy(x, target, Value(), options);
}

}  // namespace thimble
