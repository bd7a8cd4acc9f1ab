#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct UnfoldOptions {
  Pair kernel = 2;
  Pair stride = 1;
  Padding padding;    // zeros around the image
  Pair dilation = 1;  // distance between pixels of the window
};
void describe(UnfoldOptions& options, ir::FieldVisitor& visitor);

// The windows of images, one per row: y[n, p * Q + q, (r * kw + s) * C + c] = x[n, p*stride +
// r*dilation - padding, q*stride + s*dilation - padding, c]. x: [N, H, W, C], f32; y: [N, P * Q, kh
// * kw * C] with P = floor((H + padding - dilation * (kh - 1) - 1) / stride) + 1. As
// torch.nn.functional.unfold, but with channels last. Errors: Error if sizes do not match.
Value unfold(Value x, const UnfoldOptions& options);

struct FoldOptions {
  Pair size;  // height and width of the images
  Pair kernel = 2;
  Pair stride = 1;
  Padding padding;
  Pair dilation = 1;
};
void describe(FoldOptions& options, ir::FieldVisitor& visitor);

// The sum of overlapping windows, which is the gradient of unfold. x: [N, P * Q, kh * kw * C], f32;
// y: [N, size.h, size.w, C]. As torch.nn.functional.fold, but with channels last. Errors: Error if
// sizes do not match.
Value fold(Value x, const FoldOptions& options);

}  // namespace thimble
