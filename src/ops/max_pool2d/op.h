#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct MaxPool2dAttrs {
  Pair kernel = 2;
  Pair stride = Pair(0);   // 0: the size of the kernel
  Padding padding;         // padding around the image, which is never the maximum; below the window
  Pair dilation = 1;       // distance between pixels of the window
  bool ceil_mode = false;  // keep a last window that reaches beyond the padding
};
void describe(MaxPool2dAttrs& attrs, ir::FieldVisitor& visitor);

// The maximum of every window: y[n, p, q, c] = max over r, s of x[n, p*stride + r*dilation -
// padding, ..., c]; NaN if the window contains one. x: [N, H, W, C], f32 or i8, whose quantization
// the result has; y: [N, P, Q, C] with P =
// floor((H + padding - dilation * (kernel - 1) - 1) / stride) + 1, or rounded up with ceil_mode.
// Equal to torch.nn.functional.max_pool2d. Training keeps the position of each maximum, one byte
// per output for windows of up to 255 pixels; of equal values the first gets the gradient. Errors:
// Error if sizes do not match.
Value max_pool2d(Value x, const MaxPool2dAttrs& attrs = {});

struct MaxPool2dResult {
  Value y;
  Value index;  // positions of the maxima: row * W + column, i32
};

// max_pool2d, and the positions of the maxima in the image; both [N, P, Q, C].
MaxPool2dResult max_pool2d_with_indices(Value x, const MaxPool2dAttrs& attrs = {});

// The maximum of every channel of an image. x: [N, H, W, C]; y: [N, C].
Value global_max_pool2d(Value x);

// Attributes of the max_pool2d whose gradient is computed.
struct MaxPool2dGradAttrs {
  Pair size;  // height and width of its input
  Pair kernel = 2;
  Pair stride = Pair(0);
  Padding padding;
  Pair dilation = 1;
  bool ceil_mode = false;
};
void describe(MaxPool2dGradAttrs& attrs, ir::FieldVisitor& visitor);

// The gradient of max_pool2d by its input. dy: [N, P, Q, C]; index: [N, P, Q, C], the positions of
// its maxima; returns dx: [N, size.h, size.w, C].
Value max_pool2d_grad(Value dy, Value index, const MaxPool2dGradAttrs& attrs);

}  // namespace thimble
