#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = log(sigmoid(x)) = -log(1 + exp(-x)), element by element. x: any shape, f32.
Value log_sigmoid(Value x);

}  // namespace thimble
