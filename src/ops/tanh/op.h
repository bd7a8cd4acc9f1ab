#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = tanh(x), element by element. x: any shape, f32.
Value tanh(Value x);

}  // namespace thimble
