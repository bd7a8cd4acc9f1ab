#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <cstdint>

namespace thimble {

struct QuantizedConvTranspose2dAttrs {
  Pair stride = 1;
  Padding padding;                // cells cut off the result
  Pair output_padding = Pair(0);  // rows and columns added below and to the right
  Pair dilation = 1;
  int64_t groups = 1;                        // divides both numbers of channels
  Activation activation = Activation::none;  // the bounds of the result
  double scale = 1.0;                        // of the result, held as f32
  int64_t zero_point = 0;                    // of the result, -128 to 127
  Requantization requantization = Requantization::floating;
};
void describe(QuantizedConvTranspose2dAttrs& attrs, ir::FieldVisitor& visitor);

// conv_transpose2d on int8, with sums and results as in quantized_conv2d. x: [N, H, W, C], i8 with
// one scale; weight: [C, kh, kw, K / groups], i8 with zero points of 0 and one scale or one per
// index of axis 3, which the groups share; bias: [K], i32 in units of scale of x * scale of weight,
// or none; y: [N, P, Q, K], i8, sized as in conv_transpose2d. The gradient is the one by the
// integers, with rounding as the identity, and 0 where y was clamped. Errors: Error where sizes or
// types do not match.
Value quantized_conv_transpose2d(Value x, Value weight, Value bias,
                                 const QuantizedConvTranspose2dAttrs& attrs);

}  // namespace thimble
