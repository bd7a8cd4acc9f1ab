#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

// Lists have one number for all axes, or three for depth, height and width.
struct MaxPool3dOptions {
  std::vector<int64_t> kernel = {2};
  std::vector<int64_t> stride;         // none: the size of the kernel
  std::vector<int64_t> padding = {0};  // padding around the volume, which is never the maximum
  std::vector<int64_t> dilation = {1};
  bool ceil_mode = false;  // keep a last window that reaches beyond the padding
};
void describe(MaxPool3dOptions& options, ir::FieldVisitor& visitor);

// The largest value of every window of volumes; NaN where the window holds one. It is max_pool2d of
// every plane, then along the depth. x: [N, D, H, W, C], f32; y: [N, O, P, Q, C] with O =
// floor((D + 2 padding - dilation * (kernel - 1) - 1) / stride) + 1, P and Q alike, or rounded up
// with ceil_mode. Of equal values the first gets the gradient. Equal to
// torch.nn.functional.max_pool3d. Errors: Error where sizes do not fit.
Value max_pool3d(Value x, const MaxPool3dOptions& options = {});

struct MaxPool3dResult {
  Value y;
  Value index;  // positions of the maxima: (depth * H + row) * W + column, i32
};

// max_pool3d, and the positions of the maxima in the volume; both [N, O, P, Q, C].
MaxPool3dResult max_pool3d_with_indices(Value x, const MaxPool3dOptions& options = {});

}  // namespace thimble
