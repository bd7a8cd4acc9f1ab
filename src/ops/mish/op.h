#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = x * tanh(log(1 + exp(x))), element by element. x: any shape, f32.
// Source: Misra, "Mish", 2019.
Value mish(Value x);

}  // namespace thimble
