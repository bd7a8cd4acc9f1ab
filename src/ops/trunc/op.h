#pragma once

#include <thimble/graph.h>

namespace thimble {

// x without its fraction: rounded towards 0; its gradient is 0. Element by element; x: any shape,
// f32.
Value trunc(Value x);

}  // namespace thimble
