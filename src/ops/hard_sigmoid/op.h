#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = min(max(x + 3, 0), 6) / 6, element by element. x: any shape, f32. Source: Howard et al.,
// "Searching for MobileNetV3", 2019.
Value hard_sigmoid(Value x);

}  // namespace thimble
