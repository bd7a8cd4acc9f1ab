#pragma once

#include <thimble/graph.h>

namespace thimble {

// -1, 0 or 1, the sign of x, and NaN of NaN; its gradient is 0. Element by element; x: any shape,
// f32.
Value sign(Value x);

}  // namespace thimble
