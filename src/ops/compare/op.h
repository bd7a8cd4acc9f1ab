#pragma once

#include <thimble/graph.h>

namespace thimble {

// Comparisons, element by element: 1 where it holds, else 0, of type u8 (cast gives f32, where
// takes it as it is). a, b: of one type, whichever; shapes that broadcast as in NumPy, at most 8
// dimensions. NaN equals nothing. No gradient flows through them. Throw Error where the shapes do
// not fit.
Value eq(Value a, Value b);  // a == b
Value ne(Value a, Value b);  // a != b
Value lt(Value a, Value b);  // a < b
Value le(Value a, Value b);  // a <= b
Value gt(Value a, Value b);  // a > b
Value ge(Value a, Value b);  // a >= b

}  // namespace thimble
