#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = log2(x), element by element. x: any shape, f32.
Value log2(Value x);

}  // namespace thimble
