#pragma once

#include <thimble/graph.h>

namespace thimble {

// Comparisons, element by element: 1 where true, else 0, of type u8 (`where` takes it directly,
// cast converts it to f32). a, b: of one type; shapes that broadcast as in NumPy, at most 8
// dimensions. NaN equals nothing. They have no gradient. Throw Error if the shapes do not match.
Value eq(Value a, Value b);  // a == b
Value ne(Value a, Value b);  // a != b
Value lt(Value a, Value b);  // a < b
Value le(Value a, Value b);  // a <= b
Value gt(Value a, Value b);  // a > b
Value ge(Value a, Value b);  // a >= b

}  // namespace thimble
