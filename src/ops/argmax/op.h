#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct ArgmaxOptions {
  int64_t axis = -1;      // negative counts from the last
  bool keepdims = false;  // keep the axis with size 1
  bool flat = false;      // index into all elements in order; axis is ignored
};
void describe(ArgmaxOptions& options, ir::FieldVisitor& visitor);

// The index of the largest element along an axis, i32. Of equal elements the first counts; NaN
// counts as the largest. x: f32. It has no gradient. Throws Error for an axis that does not exist
// or is empty.
Value argmax(Value x, const ArgmaxOptions& options = {});

}  // namespace thimble
