#pragma once

#include <thimble/graph.h>

namespace thimble {

// The fraction of x, with its sign: y = x - trunc(x); its gradient is that of x. Element by
// element; x: any shape, f32.
Value frac(Value x);

}  // namespace thimble
