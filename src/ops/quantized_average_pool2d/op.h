#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <cstdint>

namespace thimble {

struct QuantizedAveragePool2dAttrs {
  Pair kernel = 2;
  Pair stride = Pair(0);          // 0: the size of the kernel
  Padding padding;                // cells that stand for 0 around the image; below the kernel
  bool count_include_pad = true;  // divide by the whole window, else by its cells in the image
  bool ceil_mode = false;  // a last window that reaches beyond the padding counts, too; what lies
                           // beyond is never divided by
  Requantization requantization = Requantization::floating;  // how halves are rounded
};
void describe(QuantizedAveragePool2dAttrs& attrs, ir::FieldVisitor& visitor);

// average_pool2d on int8: the mean of every window, rounded. x: [N, H, W, C], i8 with one scale; y:
// [N, P, Q, C] of the same quantization, sized as in average_pool2d. floating: to nearest, halves
// to even; fixed_point: halves away from zero, as in TensorFlow Lite, which never counts padding.
// Exact integers in both. The gradient is that of average_pool2d. Errors: Error where
// sizes or types do not fit.
Value quantized_average_pool2d(Value x, const QuantizedAveragePool2dAttrs& attrs = {});

// The rounded mean of every channel of an image. x: [N, H, W, C], i8 with one scale; y: [N, C].
Value quantized_global_average_pool2d(Value x, Requantization requantization = {});

}  // namespace thimble
