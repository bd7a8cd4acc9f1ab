#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = cos(x), x in radians, element by element. x: any shape, f32.
Value cos(Value x);

}  // namespace thimble
