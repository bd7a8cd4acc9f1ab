#pragma once

#include <thimble/graph.h>

namespace thimble {

struct HardTanhAttrs {
  double min_val = -1.0;  // least value
  double max_val = 1.0;   // largest value
};
void describe(HardTanhAttrs& attrs, ir::FieldVisitor& visitor);

// y = min(max(x, min_val), max_val); unlike that of clip, the gradient is 0 at the limits too.
// Element by element; x: any shape, f32. Throws Error unless min_val <= max_val.
Value hard_tanh(Value x, const HardTanhAttrs& attrs = {});

}  // namespace thimble
