#pragma once

#include <thimble/graph.h>

namespace thimble {

// The larger of two tensors, element by element; NaN where one of them is NaN. a, b: shapes that
// broadcast as in NumPy, at most 8 dimensions, f32. Where they are equal each gets half the
// gradient. Throws Error where the shapes do not fit.
Value maximum(Value a, Value b);

}  // namespace thimble
