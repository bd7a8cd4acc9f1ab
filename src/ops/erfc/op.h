#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = 1 - erf(x), without cancellation for large x, element by element. x: any shape, f32.
Value erfc(Value x);

}  // namespace thimble
