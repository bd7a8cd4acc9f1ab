#pragma once

#include <thimble/graph.h>

namespace thimble {

struct CeluAttrs {
  double alpha = 1.0;  // minus the limit for small x
};
void describe(CeluAttrs& attrs, ir::FieldVisitor& visitor);

// y = x for x > 0, else alpha * (exp(x / alpha) - 1), element by element. x: any shape, f32.
// Source: Barron, "Continuously Differentiable Exponential Linear Units", 2017. Throws Error
// unless alpha != 0.
Value celu(Value x, const CeluAttrs& attrs = {});

}  // namespace thimble
