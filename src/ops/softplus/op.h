#pragma once

#include <thimble/graph.h>

namespace thimble {

struct SoftplusAttrs {
  double beta = 1.0;        // sharpness
  double threshold = 20.0;  // y = x where beta * x exceeds it
};
void describe(SoftplusAttrs& attrs, ir::FieldVisitor& visitor);

// y = log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold, element by element.
// x: any shape, f32. Source: Dugas et al. 2001.
Value softplus(Value x, const SoftplusAttrs& attrs = {});

}  // namespace thimble
