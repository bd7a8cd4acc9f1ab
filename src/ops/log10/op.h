#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = log10(x), element by element. x: any shape, f32.
Value log10(Value x);

}  // namespace thimble
