#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct TopkOptions {
  int64_t k = 1;        // number of elements, at most the size of the axis
  int64_t axis = -1;    // the axis of the elements; negative counts from the last
  bool largest = true;  // false: the smallest
};
void describe(TopkOptions& options, ir::FieldVisitor& visitor);

struct Topk {
  Value values;   // x with the axis reduced to k elements, the best first
  Value indices;  // original positions of the values, i32
};

// The k largest or smallest elements along an axis, chosen without sorting the others; of equal
// ones the first come first, and NaN counts as the largest. x: f32. Gradients flow through the
// values. Throws Error for an axis that does not exist or has fewer than k elements.
Topk topk(Value x, const TopkOptions& options);

}  // namespace thimble
