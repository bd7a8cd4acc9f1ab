#pragma once

#include <thimble/graph.h>

namespace thimble {

// Logical operations, element by element: 1 where true, else 0, of type u8 as for comparisons. A
// number is true unless it is 0; NaN is true. a, b: any types; shapes that broadcast as in NumPy,
// at most 8 dimensions. They have no gradient. Equal to torch.logical_and and the like. Throw Error
// if the shapes do not match.
Value logical_and(Value a, Value b);
Value logical_or(Value a, Value b);
Value logical_xor(Value a, Value b);
Value logical_not(Value a);

}  // namespace thimble
