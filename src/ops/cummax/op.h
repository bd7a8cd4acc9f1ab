#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble::ir {
class FieldVisitor;
}

namespace thimble {

struct CummaxOptions {
  int64_t axis = -1;  // along which elements count; negative counts from the last
};
void describe(CummaxOptions& options, ir::FieldVisitor& visitor);

struct Cummax {
  Value values;   // the shape of x
  Value indices;  // where they stood, i32
};

// The largest of every element and those before it along an axis, and where it stood: of equal ones
// the last, and NaN from the first NaN on. x: f32, at least one dimension. Gradients flow through
// the values. Equal to torch.cummax. Throws Error for an axis that does not exist.
Cummax cummax(Value x, const CummaxOptions& options = {});

// The smallest. Equal to torch.cummin.
Cummax cummin(Value x, const CummaxOptions& options = {});

}  // namespace thimble
