#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = exp(x) - 1, without cancellation for small x, element by element. x: any shape, f32.
Value expm1(Value x);

}  // namespace thimble
