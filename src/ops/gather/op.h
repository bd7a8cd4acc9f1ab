#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct GatherOptions {
  int64_t axis = -1;  // the axis that indices refer to; negative counts from the last
};
void describe(GatherOptions& options, ir::FieldVisitor& visitor);

// Elements looked up along an axis: y[i, j, k] = x[i, index[i, j, k], k] for axis 1. x: any type,
// at most 8 dimensions; index: i32, as many dimensions, no larger than x except along the axis; y:
// the type of x and the shape of index. An index that is not in [0, size) gives NaN (0 for types
// other than f32). Equal to torch.gather, and to take_along_axis where shapes are equal. Throws
// Error if the shapes do not match.
Value gather(Value x, Value index, const GatherOptions& options = {});

}  // namespace thimble
