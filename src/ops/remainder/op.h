#pragma once

#include <thimble/graph.h>

namespace thimble {

// Division with a remainder, element by element. a, b: both f32, i32 or i64, shapes that
// broadcast as in NumPy, at most 8 dimensions; y: their type. Throw Error where types or shapes do
// not fit. By 0: NaN (floor_divide: a / 0), in integers 0.

// a - b * floor(a / b): of the sign of b. Gradients: 1 and -floor(a / b). Equal to torch.remainder
// and Python's %.
Value remainder(Value a, Value b);

// a - b * trunc(a / b): of the sign of a. Gradients: 1 and -trunc(a / b). Equal to torch.fmod and
// C's fmod.
Value fmod(Value a, Value b);

// floor(a / b), without a gradient. Equal to torch.floor_divide and Python's //.
Value floor_divide(Value a, Value b);

}  // namespace thimble
