#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

struct PadOptions {
  std::vector<int64_t> before;  // elements before each axis, one number an axis
  std::vector<int64_t> after;   // elements after each axis
  double value = 0.0;           // what they hold
};

// x with elements of one value around it. x: at most 8 dimensions, f32. The gradient of the new
// elements is dropped. Throws Error unless there are two non-negative numbers an axis.
Value pad(Value x, const PadOptions& options);

}  // namespace thimble
