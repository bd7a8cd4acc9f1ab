#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <cstdint>

namespace thimble {

struct QuantizedDenseAttrs {
  Activation activation = Activation::none;  // the bounds of the result
  double scale = 1.0;                        // of the result, held as f32
  int64_t zero_point = 0;                    // of the result, -128 to 127
  Requantization requantization = Requantization::floating;
};
void describe(QuantizedDenseAttrs& attrs, ir::FieldVisitor& visitor);

// A fully connected layer on int8, over the last dimension: sum = saturate(sum over c of (x - zero
// point of x) * weight[u, c] + bias[u]) to int32, and y = clamp(round(sum * scale of x * scale of
// weight[u] / scale) + zero_point). x: [N, ..., features], i8 with one scale; weight: [units,
// features], i8 with zero points of 0 and one scale or one per index of axis 0; bias: [units], i32
// in units of scale of x * scale of weight[u], or none; y: [N, ..., units], i8. fixed_point is the
// integer rule of TensorFlow Lite Micro. The gradient is the one by the integers, with rounding as
// the identity, and 0 where y was clamped. Errors: Error where sizes or types do not match.
Value quantized_dense(Value x, Value weight, Value bias, const QuantizedDenseAttrs& attrs);

}  // namespace thimble
