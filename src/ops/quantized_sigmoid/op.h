#pragma once

#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <cstdint>

namespace thimble {

struct QuantizedSigmoidAttrs {
  double scale = 1.0;      // of the result, held as f32; usual are 1/256 and
  int64_t zero_point = 0;  // -128
  Requantization requantization = Requantization::floating;
};
void describe(QuantizedSigmoidAttrs& attrs, ir::FieldVisitor& visitor);

// The logistic function of int8 numbers: y = clamp(round(1 / (1 + exp(-scale of x * (x - its zero
// point))) / scale) + zero_point). x: any shape, i8 with one scale; y: i8. floating: the function's
// value is divided by the scale, halves to even. fixed_point: it is multiplied by the reciprocal of
// the scale, halves away from zero, as in TensorFlow Lite's reference kernels. The gradient is the
// one by the integers, with rounding as the identity, and 0 where y was clamped. Errors: Error
// where x is not quantized or the scale is none.
Value quantized_sigmoid(Value x, const QuantizedSigmoidAttrs& attrs = {});

}  // namespace thimble
