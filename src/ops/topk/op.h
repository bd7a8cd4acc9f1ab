#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct TopkOptions {
  int64_t k = 1;        // how many, at most the size of the axis
  int64_t axis = -1;    // along which they are chosen; negative counts from the last
  bool largest = true;  // else the smallest
};

struct Topk {
  Value values;   // x with k elements of the axis, the best first
  Value indices;  // where they stood, i32
};

// The k largest or smallest elements along an axis, chosen without sorting the others; of equal
// ones the first come first, and NaN counts as the largest. x: f32. Gradients flow through the
// values. Throws Error for an axis that does not exist or has fewer than k elements.
Topk topk(Value x, const TopkOptions& options);

}  // namespace thimble
