#pragma once

#include <thimble/graph.h>

namespace thimble {

// The bits of whole numbers, element by element. a, b: of one type of whole numbers (i64, i32, i16,
// i8, u32, u8), shapes that broadcast as in NumPy, at most 8 dimensions; y: their type. No gradient
// flows through them. Equal to torch.bitwise_and and the like. Throw Error where types or shapes do
// not fit.
Value bitwise_and(Value a, Value b);
Value bitwise_or(Value a, Value b);
Value bitwise_xor(Value a, Value b);
Value bitwise_not(Value a);

// a shifted by b bits. What leaves the number is lost; a right shift fills up with the sign. A
// shift by less than 0 or by at least the bits of the type leaves 0, or -1 where a right shift
// fills up with ones.
Value bitwise_left_shift(Value a, Value b);
Value bitwise_right_shift(Value a, Value b);

}  // namespace thimble
