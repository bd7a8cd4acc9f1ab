#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = log(x + sqrt(x^2 - 1)), NaN where x < 1, element by element. x: any shape, f32.
Value acosh(Value x);

}  // namespace thimble
