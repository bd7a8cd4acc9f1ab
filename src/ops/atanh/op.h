#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = log((1 + x) / (1 - x)) / 2, NaN where |x| > 1, element by element. x: any shape, f32.
Value atanh(Value x);

}  // namespace thimble
