#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = a where the condition is not 0, else b, element by element. condition: bool, or u8 as eq, lt,
// ... give it; a, b: f32 or integers; shapes that broadcast as in NumPy, at most 8 dimensions. No
// gradient by the condition. Throws Error where the shapes do not fit.
Value where(Value condition, Value a, Value b);

}  // namespace thimble
