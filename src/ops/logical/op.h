#pragma once

#include <thimble/graph.h>

namespace thimble {

// Logic, element by element: 1 where it holds, else 0, of type u8 as the comparisons give it. A
// number counts as true unless it is 0; NaN is true. a, b: any type, each its own;
// shapes that broadcast as in NumPy, at most 8 dimensions. No gradient flows through them. Equal to
// torch.logical_and and the like. Throw Error where the shapes do not fit.
Value logical_and(Value a, Value b);
Value logical_or(Value a, Value b);
Value logical_xor(Value a, Value b);
Value logical_not(Value a);

}  // namespace thimble
