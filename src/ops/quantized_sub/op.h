#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <cstdint>

namespace thimble {

struct QuantizedSubAttrs {
  Activation activation = Activation::none;  // the bounds of the result
  double scale = 1.0;                        // of the result, held as f32
  int64_t zero_point = 0;                    // of the result, -128 to 127
  Requantization requantization = Requantization::floating;
};
void describe(QuantizedSubAttrs& attrs, ir::FieldVisitor& visitor);

// The difference of int8 numbers of different scales: y = clamp(round(((a - zero point of a) *
// scale of a - (b - zero point of b) * scale of b) / scale) + zero_point). a, b: i8 with one scale
// each, shapes that broadcast as in NumPy; y: i8. floating: products, difference and quotient in
// f32. fixed_point: the inputs times 2^20, brought to twice the larger scale. The gradient is the
// one by the integers, with rounding as the identity, and 0 where y was clamped. Errors: Error
// where shapes or types do not fit.
Value quantized_sub(Value a, Value b, const QuantizedSubAttrs& attrs);

}  // namespace thimble
