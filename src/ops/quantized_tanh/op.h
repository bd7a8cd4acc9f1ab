#pragma once

#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <cstdint>

namespace thimble {

struct QuantizedTanhAttrs {
  double scale = 1.0;      // of the result, held as f32; usual are 1/128 and
  int64_t zero_point = 0;  // 0
  Requantization requantization = Requantization::floating;
};
void describe(QuantizedTanhAttrs& attrs, ir::FieldVisitor& visitor);

// The hyperbolic tangent of int8 numbers: y = clamp(round(tanh(scale of x * (x - its zero point)) /
// scale) + zero_point). x: any shape, i8 with one scale; y: i8. floating: the function's value is
// divided by the scale, halves to even. fixed_point: it is multiplied by the reciprocal of the
// scale, halves away from zero, as in TensorFlow Lite's reference kernels. The gradient is the one
// by the integers, with rounding as the identity, and 0 where y was clamped. Errors: Error where x
// is not quantized or the scale is none.
Value quantized_tanh(Value x, const QuantizedTanhAttrs& attrs = {});

}  // namespace thimble
