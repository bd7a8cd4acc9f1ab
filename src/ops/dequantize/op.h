#pragma once

#include <thimble/graph.h>

namespace thimble {

// The numbers that int8 stand for: y = scale * (x - zero_point), exact up to one rounding to f32.
// x: any shape, i8 with a quantization, of the whole tensor or along an axis; y: f32. The
// gradient is the one by the integers. Errors: Error where x is not quantized.
Value dequantize(Value x);

}  // namespace thimble
