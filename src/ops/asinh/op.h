#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = log(x + sqrt(x^2 + 1)), element by element. x: any shape, f32.
Value asinh(Value x);

}  // namespace thimble
