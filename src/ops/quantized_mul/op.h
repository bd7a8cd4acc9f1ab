#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <cstdint>

namespace thimble {

struct QuantizedMulAttrs {
  Activation activation = Activation::none;  // the bounds of the result
  double scale = 1.0;                        // of the result, held as f32
  int64_t zero_point = 0;                    // of the result, -128 to 127
  Requantization requantization = Requantization::floating;
};
void describe(QuantizedMulAttrs& attrs, ir::FieldVisitor& visitor);

// The product of int8 numbers: y = clamp(round((a - zero point of a) * (b - zero point of b) *
// scale of a * scale of b / scale) + zero_point). a, b: i8 with one scale each, shapes that
// broadcast as in NumPy; y: i8. The gradient is the one by the
// integers, with rounding as the identity, and 0 where y was clamped. Errors:
// Error where shapes or types do not fit.
Value quantized_mul(Value a, Value b, const QuantizedMulAttrs& attrs);

}  // namespace thimble
