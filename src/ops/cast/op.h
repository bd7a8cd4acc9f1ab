#pragma once

#include <thimble/graph.h>

namespace thimble {

// x with elements of another type, each of f32, i32, u32, i8 and u8. Numbers lose their fraction
// (towards 0) and become the nearest that the type can hold; NaN becomes 0. Gradients flow from
// f32 to f32 alone. Throws Error for other types.
Value cast(Value x, DType dtype);

}  // namespace thimble
