#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = atan(x), in radians, element by element. x: any shape, f32.
Value atan(Value x);

}  // namespace thimble
