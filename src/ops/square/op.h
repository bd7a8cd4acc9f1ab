#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = x * x, element by element. x: any shape, f32.
Value square(Value x);

}  // namespace thimble
