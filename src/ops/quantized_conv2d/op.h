#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <cstdint>

namespace thimble {

struct QuantizedConv2dAttrs {
  Pair stride = 1;
  Padding padding;  // cells that stand for 0 around the image: 1, {1, 2}, Padding::same(), ...
  Pair dilation = 1;
  int64_t groups = 1;                        // divides both numbers of channels
  Activation activation = Activation::none;  // the bounds of the result
  double scale = 1.0;                        // of the result, held as f32
  int64_t zero_point = 0;                    // of the result, -128 to 127
  Requantization requantization = Requantization::floating;
};
void describe(QuantizedConv2dAttrs& attrs, ir::FieldVisitor& visitor);

// conv2d on int8: sum = saturate(sum over r, s, c of (x - zero point of x) * weight + bias[k]) to
// int32, and y = clamp(round(sum * scale of x * scale of weight[k] / scale) + zero_point).
// x: [N, H, W, C], i8 with one scale; weight: [K, kh, kw, C / groups], i8 with zero points of 0 and
// one scale or one per index of axis 0; bias: [K], i32 in units of scale of x * scale of weight[k],
// or none; y: [N, P, Q, K], i8, sized as in conv2d. groups = C is a depthwise convolution. The
// gradient is the one by the integers, with rounding as the identity, and 0 where y was clamped.
// Source: Lin et al., "On-Device Training Under 256KB Memory", 2022 (floating); Jacob
// et al., 2018 (fixed_point). Errors: Error where sizes or types do not match.
Value quantized_conv2d(Value x, Value weight, Value bias, const QuantizedConv2dAttrs& attrs);

}  // namespace thimble
