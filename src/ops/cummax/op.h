#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct CummaxOptions {
  int64_t axis = -1;  // the axis of the running maximum; negative counts from the last
};
void describe(CummaxOptions& options, ir::FieldVisitor& visitor);

struct Cummax {
  Value values;   // the shape of x
  Value indices;  // positions of the values along the axis, i32
};

// The running maximum along an axis, and its position: of equal elements the last, and NaN from the
// first NaN on. x: f32, at least one dimension. Gradients flow through the values. Equal to
// torch.cummax. Throws Error for an axis that does not exist.
Cummax cummax(Value x, const CummaxOptions& options = {});

// The running minimum. Equal to torch.cummin.
Cummax cummin(Value x, const CummaxOptions& options = {});

}  // namespace thimble
