#pragma once

#include <thimble/graph.h>

namespace thimble {

// x with elements of another type, of any to any. To integers: towards 0, then the nearest number
// that the type can hold; NaN becomes 0. To floating point: to the nearest, ties to even; what is
// too large becomes infinite. To boolean: whether x differs from 0 (NaN does), and 0 or 1 back.
// Gradients flow between floating-point types, as if nothing were rounded.
Value cast(Value x, DType dtype);

}  // namespace thimble
