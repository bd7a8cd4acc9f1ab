#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = 2^x, element by element. x: any shape, f32.
Value exp2(Value x);

}  // namespace thimble
