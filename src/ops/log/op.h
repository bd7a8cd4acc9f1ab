#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = log(x), the natural logarithm, element by element. x: any shape, f32.
Value log(Value x);

}  // namespace thimble
