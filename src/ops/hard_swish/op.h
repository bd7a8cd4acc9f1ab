#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = x * min(max(x + 3, 0), 6) / 6, element by element. x: any shape, f32.
// Source: Howard et al., "Searching for MobileNetV3", 2019.
Value hard_swish(Value x);

}  // namespace thimble
