#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = (exp(x) - exp(-x)) / 2, element by element. x: any shape, f32.
Value sinh(Value x);

}  // namespace thimble
