#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

// A sparse gradient [V, D], which is zero except in some rows.
struct RowGradient {
  Value sums;  // [N, D]: rows that have a gradient, then zeros
  Value rows;  // [N], i32: the indices of these rows, each once, then -1
};

struct CoalesceRowsAttrs {
  int64_t rows = 0;          // V, the rows of the whole gradient
  int64_t padding_idx = -1;  // rows with this index are left out; -1: none
  bool mean = false;         // means instead of sums
};
void describe(CoalesceRowsAttrs& attrs, ir::FieldVisitor& visitor);

// Sums the rows that have the same index, in order, so that the bits do not depend on the number of
// threads. dy: [..., D], f32; indices: i32, the shape of dy without its last dimension. An index
// that is not in [0, V) is left out. Errors: Error if shapes do not match.
RowGradient coalesce_rows(Value dy, Value indices, const CoalesceRowsAttrs& attrs);

// The gradient as a dense tensor [rows, D].
Value dense_rows(const RowGradient& gradient, int64_t rows);

}  // namespace thimble
