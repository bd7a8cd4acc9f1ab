#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = max(x, 0), element by element. x: any shape, f32.
Value relu(Value x);

}  // namespace thimble
