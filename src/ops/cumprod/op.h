#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct CumprodOptions {
  int64_t axis = -1;  // along which to multiply; negative counts from the last
};

// Running products along an axis: y[i] = x[0] ... x[i]. x: any shape of at least one dimension,
// f32; y: the shape of x. The gradient is right where elements are 0, too, and takes as many steps
// as the axis is long, squared. Throws Error for an axis that does not exist.
Value cumprod(Value x, const CumprodOptions& options = {});

}  // namespace thimble
