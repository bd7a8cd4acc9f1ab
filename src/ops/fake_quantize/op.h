#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct FakeQuantizeAttrs {
  int64_t zero_point = 0;  // the integer that stands for 0, from low to high
  int64_t low = -128;      // least integer
  int64_t high = 127;      // largest integer
  int64_t axis = 0;        // of x, which several scales count; negative: from the last
  int64_t parts = 1;       // x is the mean of this many whole steps, up to the rounding of f32
};
void describe(FakeQuantizeAttrs& attrs, ir::FieldVisitor& visitor);

// x rounded to the steps of integers, for training a network that will compute on them:
// y = scale * (clamp(round(x / scale) + zero_point, low, high) - zero_point), halves to even. With
// the default bounds it has the bits of dequantize(quantize(x)). x: any shape, f32; scale: [1], or
// [C] for C indices of the axis, above 0; y: the shape of x. NaN stays NaN. Where parts is above 1,
// x / scale is first rounded to multiples of 1 / parts, so that halves are exact.
//
// Gradients: dx = dy where the integer lies within the bounds, else 0 (the straight-through
// estimator). dscale = the sum of dy * s, where s is the bound less the zero point beyond it, and
// round(x / scale) - x / scale inside. Source: Esser et al., "Learned Step Size Quantization", ICLR
// 2020, equations 1 to 5. The zero point is not learned. See learned_scale for its gradient scale.
// Errors: Error where the scale has another shape, unless low < high and low <= zero_point <= high,
// and for bounds beyond -2^30 and 2^30.
Value fake_quantize(Value x, Value scale, const FakeQuantizeAttrs& attrs = {});

}  // namespace thimble
