#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct MaxPool2dAttrs {
  Pair kernel = 2;
  Pair stride = Pair(0);   // 0: as large as the kernel
  Padding padding;         // cells around the image that are never the largest; below the window
  Pair dilation = 1;       // from one cell of the window to the next
  bool ceil_mode = false;  // a last window that reaches beyond the padding counts, too
};

// The largest value of every window: y[n, p, q, c] = max over r, s of
// x[n, p*stride + r*dilation - padding, ..., c]; NaN where the window holds one.
// x: [N, H, W, C], f32; y: [N, P, Q, C] with P = floor((H + padding - dilation * (kernel - 1) - 1)
// / stride) + 1, or rounded up with ceil_mode. Equal to torch.nn.functional.max_pool2d. Training
// keeps the place of each maximum, one byte an output for windows of up to 255 cells; of equal
// values the first gets the gradient. Errors: Error where sizes do not fit.
Value max_pool2d(Value x, const MaxPool2dAttrs& attrs = {});

struct MaxPool2dResult {
  Value y;
  Value index;  // the cells of the largest values, row * W + column, i32
};

// max_pool2d and where in the image the largest values stood, both [N, P, Q, C].
MaxPool2dResult max_pool2d_with_indices(Value x, const MaxPool2dAttrs& attrs = {});

// The largest value of every channel of an image. x: [N, H, W, C]; y: [N, C].
Value global_max_pool2d(Value x);

// Of the max_pool2d whose gradient is taken.
struct MaxPool2dGradAttrs {
  Pair size;  // height and width of its input
  Pair kernel = 2;
  Pair stride = Pair(0);
  Padding padding;
  Pair dilation = 1;
  bool ceil_mode = false;
};

// The gradient of max_pool2d by its input. dy: [N, P, Q, C]; index: [N, P, Q, C], its places of the
// maxima; returns dx: [N, size.h, size.w, C].
Value max_pool2d_grad(Value dy, Value index, const MaxPool2dGradAttrs& attrs);

}  // namespace thimble
