#pragma once

#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <cstdint>

namespace thimble {

struct RequantizeOptions {
  double scale = 1.0;      // of the result, held as f32
  int64_t zero_point = 0;  // of the result, -128 to 127
  Requantization requantization = Requantization::floating;
};
void describe(RequantizeOptions& options, ir::FieldVisitor& visitor);

// int8 under another scale and zero point: y = clamp(round((x - zero point of x) * scale of x /
// scale) + zero_point, -128, 127). x: any shape, i8 with one scale. Rounding counts as the identity
// for the gradient, which is 0 where y was clamped. Errors: Error where x is not quantized so, or
// the result's quantization is none of i8.
Value requantize(Value x, const RequantizeOptions& options);

}  // namespace thimble
