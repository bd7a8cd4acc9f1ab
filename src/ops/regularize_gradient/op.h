#pragma once

#include <thimble/graph.h>

namespace thimble {

struct RegularizeGradientOptions {
  double l1 = 0.0;  // factor of the sum of magnitudes
  double l2 = 0.0;  // factor of half the sum of squares
};
void describe(RegularizeGradientOptions& options, ir::FieldVisitor& visitor);

// grad + l1 * sign(param) + l2 * param: the gradient of a loss with the penalties l1 * sum(|param|)
// + l2 / 2 * sum(param^2) added. grad, param: of one shape, f32. The sign of 0 is 0.
Value regularize_gradient(Value grad, Value param, const RegularizeGradientOptions& options);

}  // namespace thimble
