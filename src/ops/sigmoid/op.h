#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = 1 / (1 + exp(-x)), element by element. x: any shape, f32.
Value sigmoid(Value x);

}  // namespace thimble
