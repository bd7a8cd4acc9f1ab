#pragma once

#include <thimble/graph.h>

namespace thimble {

struct GeluAttrs {
  bool tanh_approximation = false;  // use the approximation
};
void describe(GeluAttrs& attrs, ir::FieldVisitor& visitor);

// y = x * Phi(x), Phi the normal distribution function, or its approximation
// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), element by element. x: any shape, f32.
// Source: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
Value gelu(Value x, const GeluAttrs& attrs = {});

}  // namespace thimble
