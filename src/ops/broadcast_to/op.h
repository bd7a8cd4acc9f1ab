#pragma once

#include <thimble/graph.h>

namespace thimble {

// x repeated along new leading axes and along its axes of size 1 until it has the given shape, as
// in NumPy. x: at most 8 dimensions, not bool. Throws Error where the shapes do not fit.
Value broadcast_to(Value x, const Shape& shape);

}  // namespace thimble
