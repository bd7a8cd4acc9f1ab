#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = |x|, element by element; its gradient at 0 is 0. x: any shape, f32.
Value abs(Value x);

}  // namespace thimble
