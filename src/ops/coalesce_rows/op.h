#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

// A gradient [V, D] that is zero but for some rows.
struct RowGradient {
  Value sums;  // [N, D]: the rows that have one, then zeros
  Value rows;  // [N], i32: their numbers, each once, then -1
};

struct CoalesceRowsAttrs {
  int64_t rows = 0;          // V, of the whole gradient
  int64_t padding_idx = -1;  // rows of this index are left out; -1: none are
  bool mean = false;         // means instead of sums
};

// Adds up the rows that have the same index, in their order, so that the bits are equal with any
// number of threads. dy: [..., D], f32; indices: i32, the shape of dy without its last dimension.
// An index that is not in [0, V) is left out. Errors: Error where shapes do not fit.
RowGradient coalesce_rows(Value dy, Value indices, const CoalesceRowsAttrs& attrs);

// The gradient as a whole tensor [rows, D].
Value dense_rows(const RowGradient& gradient, int64_t rows);

}  // namespace thimble
