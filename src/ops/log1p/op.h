#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = log(1 + x), without cancellation for small x, element by element. x: any shape, f32.
Value log1p(Value x);

}  // namespace thimble
