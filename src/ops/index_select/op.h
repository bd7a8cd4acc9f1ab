#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct IndexSelectOptions {
  int64_t axis = 0;  // the axis of the slices; negative counts from the last
};
void describe(IndexSelectOptions& options, ir::FieldVisitor& visitor);

// Slices of x along an axis, in the order of their indices: y[.., i, ..] = x[.., index[i], ..].
// x: any type; index: [K], i32; y: x with an axis of size K. An index that is not in [0, size)
// gives NaN (0 in tensors of other types than f32). Equal to torch.index_select. Throws Error where
// the shapes do not fit.
Value index_select(Value x, Value index, const IndexSelectOptions& options = {});

}  // namespace thimble
