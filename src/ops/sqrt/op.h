#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = sqrt(x), element by element. x: any shape, f32.
Value sqrt(Value x);

}  // namespace thimble
