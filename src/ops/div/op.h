#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = a / b, element by element; a and b: f32, at most 8 dimensions, broadcast as in NumPy: counted
// from the last dimension, sizes are equal or one of them is 1. Throws Error where they do not fit.
Value div(Value a, Value b);

inline Value operator/(Value a, Value b) { return div(a, b); }

}  // namespace thimble
