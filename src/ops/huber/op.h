#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct HuberOptions {
  double delta = 1.0;  // where the loss changes from quadratic to linear
  Reduction reduction = Reduction::mean;
};
void describe(HuberOptions& options, ir::FieldVisitor& visitor);

// Huber loss: reduce of d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), with
// d = prediction - target. Both: any one shape, f32.
// Throws Error where the shapes differ or delta is not positive. Source: Huber 1964.
Value huber(Value prediction, Value target, const HuberOptions& options = {});

}  // namespace thimble
