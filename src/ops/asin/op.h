#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = asin(x), in radians, NaN where |x| > 1, element by element. x: any shape, f32.
Value asin(Value x);

}  // namespace thimble
