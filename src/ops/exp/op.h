#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = exp(x), element by element. x: any shape, f32.
Value exp(Value x);

}  // namespace thimble
