#pragma once

#include <thimble/graph.h>

namespace thimble {

// The smallest whole number that is not below x; its gradient is 0. Element by element; x: any
// shape, f32.
Value ceil(Value x);

}  // namespace thimble
