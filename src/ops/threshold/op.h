#pragma once

#include <thimble/graph.h>

namespace thimble {

struct ThresholdAttrs {
  double threshold = 0.0;  // elements of x above it are kept
  double value = 0.0;      // value of the other elements
};
void describe(ThresholdAttrs& attrs, ir::FieldVisitor& visitor);

// y = x where x > threshold, else value, element by element. x: any shape, f32.
Value threshold(Value x, const ThresholdAttrs& attrs = {});

}  // namespace thimble
