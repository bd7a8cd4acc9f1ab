#pragma once

#include <thimble/graph.h>

namespace thimble {

// The largest whole number that is not above x; its gradient is 0. Element by element; x: any
// shape, f32.
Value floor(Value x);

}  // namespace thimble
