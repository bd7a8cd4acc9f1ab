#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = min(max(x, low), high), element by element. x, low, high: shapes that broadcast as in NumPy,
// at most 8 dimensions, f32; low or high may be none. NaN where one of them is NaN. For bounds that
// are numbers see clip. The gradient goes to x where low <= x <= high, else to the bound that
// holds, as torch.clamp. Throws Error where the shapes do not fit or neither bound is given.
Value clamp(Value x, Value low, Value high);

}  // namespace thimble
