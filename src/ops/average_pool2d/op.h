#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct AveragePool2dAttrs {
  Pair kernel = 2;
  Pair stride = Pair(0);          // 0: the size of the kernel
  Padding padding;                // zeros around the image; below the kernel
  bool count_include_pad = true;  // divide by the whole window, else by its cells in the image
  bool ceil_mode = false;  // a last window that reaches beyond the padding counts, too; what lies
                           // beyond is never divided by
  int64_t divisor = 0;     // divide by this; 0: by the cells
};
void describe(AveragePool2dAttrs& attrs, ir::FieldVisitor& visitor);

// The mean of every window: y[n, p, q, c] = sum over r, s of x[n, p*stride + r - padding, ..., c]
// / count. x: [N, H, W, C], f32; y: [N, P, Q, C] with
// P = floor((H + padding - kernel) / stride) + 1. Errors: Error where sizes do not fit. Equal to
// torch.nn.functional.avg_pool2d.
Value average_pool2d(Value x, const AveragePool2dAttrs& attrs = {});

// The mean of every channel of an image. x: [N, H, W, C]; y: [N, C].
Value global_average_pool2d(Value x);

// Attributes of the average_pool2d whose gradient is computed.
struct AveragePool2dGradAttrs {
  Pair size;  // height and width of its input
  Pair kernel = 2;
  Pair stride = Pair(0);
  Padding padding;
  bool count_include_pad = true;
  bool ceil_mode = false;
  int64_t divisor = 0;
};
void describe(AveragePool2dGradAttrs& attrs, ir::FieldVisitor& visitor);

// The gradient of average_pool2d by its input. dy: [N, P, Q, C]; returns
// dx: [N, size.h, size.w, C].
Value average_pool2d_grad(Value dy, const AveragePool2dGradAttrs& attrs);

}  // namespace thimble
