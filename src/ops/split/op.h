#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

struct SplitOptions {
  int64_t axis = -1;           // negative counts from the last
  std::vector<int64_t> sizes;  // of the parts along the axis; their sum is its size
};

// The parts of x along an axis: the opposite of concat. x: any type; 1 to 32 parts.
// Throws Error where the sizes do not make up the axis.
std::vector<Value> split(Value x, const SplitOptions& options);

// split into equal parts. Throws Error where their number does not divide the axis.
std::vector<Value> split(Value x, int64_t parts, int64_t axis = -1);

}  // namespace thimble
