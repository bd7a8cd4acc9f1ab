#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = acos(x), in radians, NaN where |x| > 1, element by element. x: any shape, f32.
Value acos(Value x);

}  // namespace thimble
