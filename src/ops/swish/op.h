#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = x / (1 + exp(-x)), also called SiLU, element by element. x: any shape, f32.
// Source: Ramachandran et al., "Searching for Activation Functions", 2017.
Value swish(Value x);

}  // namespace thimble
