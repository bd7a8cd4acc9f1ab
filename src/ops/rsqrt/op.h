#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = 1 / sqrt(x), element by element. x: any shape, f32.
Value rsqrt(Value x);

}  // namespace thimble
