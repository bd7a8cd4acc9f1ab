#pragma once

#include <thimble/graph.h>

namespace thimble {

// The inverse of broadcasting: x summed over the axes along which the given shape would be
// broadcast to the shape of x. x: at most 8 dimensions, f32. x itself if it already has that shape.
// Throws Error if the shapes do not match.
Value sum_to(Value x, const Shape& shape);

}  // namespace thimble
