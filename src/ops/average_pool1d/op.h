#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct AveragePool1dOptions {
  int64_t kernel = 2;
  int64_t stride = 0;  // 0: the size of the kernel
  Padding padding;     // zeros at the ends: 1 for both, {0, 0, left, right}; below the kernel
  bool count_include_pad =
      true;  // divide by the size of the window, else by its elements inside the sequence
  bool ceil_mode = false;  // keep a last window that reaches beyond the padding
};

// The mean of every window: y[n, q, c] = sum over s of x[n, q*stride + s - padding, c] / count.
// Computed as average_pool2d of images of height 1; the reshapes are views. x: [N, L, C], f32; y:
// [N, Q, C] with Q = floor((L + padding - kernel) / stride) + 1. Errors: Error if sizes do not
// match.
Value average_pool1d(Value x, const AveragePool1dOptions& options = {});

}  // namespace thimble
