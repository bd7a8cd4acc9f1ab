#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = a / b, element by element; a and b: f32, at most 8 dimensions, broadcast as in NumPy: counted
// from the last dimension, sizes are equal or one of them is 1. Throws Error where they do not fit.
Value div(Value a, Value b);

inline Value operator/(Value a, Value b) { return div(a, b); }

// Quotients of tensors and numbers, which are rounded to f32; each is rounded once and has the type
// of x.
Value operator/(Value x, double c);
Value operator/(double c, Value x);

}  // namespace thimble
