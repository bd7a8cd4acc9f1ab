#pragma once

#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <cstdint>
#include <vector>

namespace thimble {

struct QuantizedMeanAttrs {
  std::vector<int64_t> axes;  // none: all; negative ones count from the last
  bool keepdims = false;      // keep them with size 1
  double scale = 1.0;         // of the result, held as f32
  int64_t zero_point = 0;     // of the result, -128 to 127
  Requantization requantization = Requantization::floating;
};
void describe(QuantizedMeanAttrs& attrs, ir::FieldVisitor& visitor);

// The mean of int8 numbers over axes, under another scale: y = clamp(round(sum of (x - zero point
// of x) * scale of x / (count * scale)) + zero_point), with count elements in each mean, at least
// 1. x: at most 8 dimensions, i8 with one scale; y: i8. Sums saturate to int32. fixed_point has the
// bits of TensorFlow Lite's reference kernel. The gradient is the one by the integers, with
// rounding as the identity, and 0 where y was clamped. Errors: Error for axes that do
// not exist, and where there is nothing to average.
Value quantized_mean(Value x, const QuantizedMeanAttrs& attrs);

}  // namespace thimble
