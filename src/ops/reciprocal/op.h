#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = 1 / x, element by element. x: any shape, f32.
Value reciprocal(Value x);

}  // namespace thimble
