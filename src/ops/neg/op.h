#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = -x, element by element. x: any shape, f32.
Value neg(Value x);

inline Value operator-(Value x) { return neg(x); }

}  // namespace thimble
