#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct GatherOptions {
  int64_t axis = -1;  // along which indices count; negative counts from the last
};

// Elements found along an axis by their index: y[i, j, k] = x[i, index[i, j, k], k] for axis 1.
// x: any type, at most 8 dimensions; index: i32, as many dimensions, no larger than x but along the
// axis; y: the type of x and the shape of index. An index that is not in [0, size) gives NaN (0 in
// tensors of other types than f32). Equal to torch.gather; take_along_axis where shapes are equal.
// Throws Error where the shapes do not fit.
Value gather(Value x, Value index, const GatherOptions& options = {});

}  // namespace thimble
