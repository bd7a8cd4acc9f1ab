#pragma once

#include <thimble/graph.h>

namespace thimble {

// Operations on the bits of integers, element by element. a, b: of one integer type (i64, i32, i16,
// i8, u32, u8), shapes that broadcast as in NumPy, at most 8 dimensions; y: that type. They have no
// gradient. Equal to torch.bitwise_and and the like. Throw Error if types or shapes do not match.
Value bitwise_and(Value a, Value b);
Value bitwise_or(Value a, Value b);
Value bitwise_xor(Value a, Value b);
Value bitwise_not(Value a);

// a shifted by b bits. Bits shifted out are lost; a right shift copies the sign bit. A shift by
// less than 0 or by at least the bits of the type gives 0, or -1 for a right shift of a negative
// number.
Value bitwise_left_shift(Value a, Value b);
Value bitwise_right_shift(Value a, Value b);

}  // namespace thimble
