#pragma once

#include <thimble/graph.h>

namespace thimble {

struct LeakyReluAttrs {
  double slope = 0.01;  // for negative x; of any sign
};
void describe(LeakyReluAttrs& attrs, ir::FieldVisitor& visitor);

// y = x for x > 0, else slope * x, element by element. x: any shape, f32.
// Source: Maas et al., "Rectifier Nonlinearities Improve Neural Network Acoustic Models", 2013.
Value leaky_relu(Value x, const LeakyReluAttrs& attrs = {});

}  // namespace thimble
