#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = x - tanh(x), element by element. x: any shape, f32.
Value tanhshrink(Value x);

}  // namespace thimble
