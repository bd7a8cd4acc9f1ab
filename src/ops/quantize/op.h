#pragma once

#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <cstdint>

namespace thimble {

struct QuantizeOptions {
  double scale = 1.0;                                        // of the result, held as f32
  int64_t zero_point = 0;                                    // of the result, -128 to 127
  Requantization requantization = Requantization::floating;  // how halves are rounded
};
void describe(QuantizeOptions& options, ir::FieldVisitor& visitor);

// y = clamp(round(x / scale) + zero_point, -128, 127). x: any shape, f32; y: i8 of this
// quantization. Halves are rounded to even (floating) or away from zero (fixed_point, as in
// TensorFlow Lite). NaN gives the zero point. The gradient is that of x / scale where y was not
// clamped, else 0. Source: Jacob et al., "Quantization and Training of Neural Networks for
// Efficient Integer-Arithmetic-Only Inference", 2018. Errors: Error unless scale is above 0 and the
// zero point one of i8.
Value quantize(Value x, const QuantizeOptions& options);

}  // namespace thimble
