#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = sin(x), x in radians, element by element. x: any shape, f32.
Value sin(Value x);

}  // namespace thimble
