#pragma once

#include <thimble/graph.h>

namespace thimble {

// The opposite of broadcasting: x summed over the axes along which a tensor of the given shape
// would be repeated to get the shape of x. x: at most 8 dimensions, f32. x itself where it has that
// shape already. Throws Error where the shapes do not fit.
Value sum_to(Value x, const Shape& shape);

}  // namespace thimble
