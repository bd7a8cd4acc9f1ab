#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

// Lists have one number for all axes, or three for depth, height and width.
struct AveragePool3dOptions {
  std::vector<int64_t> kernel = {2};
  std::vector<int64_t> stride;         // none: the size of the kernel
  std::vector<int64_t> padding = {0};  // zeros around the volume
  bool count_include_pad =
      true;  // divide by the size of the window, else by its elements inside the volume
  bool ceil_mode = false;  // keep a last window that reaches beyond the padding
  int64_t divisor = 0;     // divide by this; 0: by the cells
};
void describe(AveragePool3dOptions& options, ir::FieldVisitor& visitor);

// The mean of every window of volumes. It is average_pool2d of every plane, then along the depth.
// x: [N, D, H, W, C], f32; y: [N, O, P, Q, C] with O = floor((D + 2 padding - kernel) / stride) +
// 1, P and Q alike, or rounded up with ceil_mode. Equal to torch.nn.functional.avg_pool3d. Errors:
// Error where sizes do not fit.
Value average_pool3d(Value x, const AveragePool3dOptions& options = {});

}  // namespace thimble
