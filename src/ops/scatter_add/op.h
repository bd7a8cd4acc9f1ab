#pragma once

#include <thimble/graph.h>
#include <thimble/types.h>

#include <cstdint>

namespace thimble {

struct ScatterAddOptions {
  int64_t axis = -1;  // along which indices count; negative counts from the last
  Shape shape;        // of the result, where x is left out
};

// x with numbers added where an index says: y = x, then y[i, index[i, j, k], k] += source[i, j, k]
// for axis 1, in their order. x: f32, at most 8 dimensions, or none for zeros of the shape in the
// options; index: i32, as many dimensions, no larger than x but along the axis; source: f32, the
// shape of index. An index that is not in [0, size) adds nothing. Equal to torch.scatter_add.
// Throws Error where the shapes do not fit.
Value scatter_add(Value x, Value index, Value source, const ScatterAddOptions& options = {});

}  // namespace thimble
