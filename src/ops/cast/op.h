#pragma once

#include <thimble/graph.h>

namespace thimble {

// x converted to another element type; every pair of types is supported. To integers: truncated
// towards 0, then clamped to the range of the type; NaN becomes 0. To floating point: rounded to
// nearest, ties to even; numbers too large become infinite. To boolean: whether x differs from 0
// (true for NaN); from boolean: 0 or 1. Gradients flow between floating-point types and ignore
// rounding.
Value cast(Value x, DType dtype);

}  // namespace thimble
