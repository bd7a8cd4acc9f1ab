#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct CumsumOptions {
  int64_t axis = -1;     // the axis of the sums; negative counts from the last
  bool reverse = false;  // from the end to the start
};
void describe(CumsumOptions& options, ir::FieldVisitor& visitor);

// Running sums along an axis: y[i] = x[0] + ... + x[i], or x[i] + ... to the last in reverse. x:
// any shape of at least one dimension, f32; y: the shape of x. Throws Error for an axis that does
// not exist.
Value cumsum(Value x, const CumsumOptions& options = {});

}  // namespace thimble
