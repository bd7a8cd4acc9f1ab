#pragma once

#include <thimble/graph.h>

namespace thimble {

// The elements of x in order, under another shape. x: any type and shape. shape: at most one
// dimension may be -1, which is inferred from the others; for a batch of images write {-1, 7, 7,
// 8}. Takes no memory: the result shares the memory of x. Throws Error if the numbers of elements
// differ.
Value reshape(Value x, const Shape& shape);

// reshape to [N, everything else]: keeps axis 0. x: at least one dimension.
Value flatten(Value x);

}  // namespace thimble
