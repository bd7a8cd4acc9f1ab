#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct SortOptions {
  int64_t axis = -1;        // the axis to sort; negative counts from the last
  bool descending = false;  // largest first
};
void describe(SortOptions& options, ir::FieldVisitor& visitor);

struct Sorted {
  Value values;   // x with each line along the axis sorted
  Value indices;  // original positions of the values, i32
};

// The elements of every line along an axis in order, and their original positions. Stable: equal
// elements keep their order. NaN counts as the largest. x: f32, at least one dimension. Gradients
// flow through the values. Equal to torch.sort(stable=True). Throws Error for an axis that does not
// exist, or whose size is open.
Sorted sort(Value x, const SortOptions& options = {});

// The indices of sort alone. Equal to torch.argsort(stable=True).
Value argsort(Value x, const SortOptions& options = {});

}  // namespace thimble
