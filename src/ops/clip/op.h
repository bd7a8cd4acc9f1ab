#pragma once

#include <thimble/graph.h>

namespace thimble {

struct ClipAttrs {
  double low = 0.0;   // least value
  double high = 1.0;  // largest value
};
void describe(ClipAttrs& attrs, ir::FieldVisitor& visitor);

// y = min(max(x, low), high), element by element; the gradient passes where low <= x <= high.
// x: any shape, f32.
Value clip(Value x, const ClipAttrs& attrs = {});

}  // namespace thimble
