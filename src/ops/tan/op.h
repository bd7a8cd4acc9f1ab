#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = tan(x), x in radians, element by element. x: any shape, f32.
Value tan(Value x);

}  // namespace thimble
