#pragma once

#include <thimble/graph.h>

namespace thimble {

// The nearest whole number, halves to even; its gradient is 0 (see straight_through_round).
// Element by element; x: any shape, f32.
Value round(Value x);

}  // namespace thimble
