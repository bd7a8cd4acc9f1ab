#pragma once

#include <thimble/graph.h>
#include <thimble/types.h>

#include <cstdint>

namespace thimble {

struct ScatterAddOptions {
  int64_t axis = -1;  // the axis that indices refer to; negative counts from the last
};
void describe(ScatterAddOptions& options, ir::FieldVisitor& visitor);

// x with numbers added where an index says: y = x, then y[i, index[i, j, k], k] += source[i, j, k]
// for axis 1, in their order. x: f32, at most 8 dimensions; index: i32, as many dimensions, no
// larger than x but along the axis; source: f32, the shape of index. An index that is not in [0,
// size) adds nothing, without an error. Equal to torch.scatter_add. Throws Error where the shapes
// do not fit.
Value scatter_add(Value x, Value index, Value source, const ScatterAddOptions& options = {});

// Attributes of the gather whose gradient is computed.
struct GatherGradAttrs {
  int64_t axis = -1;
  Shape shape;  // shape of its input
};
void describe(GatherGradAttrs& attrs, ir::FieldVisitor& visitor);

// The gradient of gather by its input: scatter_add of dy to zeros. dy, index: one shape.
Value gather_grad(Value dy, Value index, const GatherGradAttrs& attrs);

}  // namespace thimble
