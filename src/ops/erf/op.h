#pragma once

#include <thimble/graph.h>

namespace thimble {

// The error function: y = 2 / sqrt(pi) * the integral of exp(-t^2) from 0 to x, element by
// element. x: any shape, f32.
Value erf(Value x);

}  // namespace thimble
