#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace thimble {

// A stop beyond every axis.
inline constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

// A part of some axes, each list one number an axis. Starts and stops are as in NumPy: negative
// ones count from the end, and those beyond it mean the end.
struct SliceOptions {
  std::vector<int64_t> axes;    // none: the first ones
  std::vector<int64_t> starts;  // first index
  std::vector<int64_t> stops;   // one past the last index
  std::vector<int64_t> steps;   // none: 1; negative ones go backwards
};
void describe(SliceOptions& options, ir::FieldVisitor& visitor);

// The elements at start, start + step, ... before stop; where the step is negative from the start
// down to one after the stop, and a stop of kEnd is before the first. x: any type, at most 8
// dimensions. Throws Error for axes that do not exist, steps of 0, and lists of different lengths.
Value slice(Value x, const SliceOptions& options);

// slice along one axis.
Value slice(Value x, int64_t axis, int64_t start, int64_t stop = kEnd, int64_t step = 1);

}  // namespace thimble
