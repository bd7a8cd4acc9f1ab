#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct AveragePool1dOptions {
  int64_t kernel = 2;
  int64_t stride = 0;  // 0: as large as the kernel
  Padding padding;     // zeros at the ends: 1 for both, {0, 0, left, right}; below the kernel
  bool count_include_pad = true;  // divide by the whole window, else by its cells in the sequence
  bool ceil_mode = false;         // a last window that reaches beyond the padding counts, too
};

// The mean of every window: y[n, q, c] = sum over s of x[n, q*stride + s - padding, c] / count.
// It is average_pool2d on images one row high: views alone are added.
// x: [N, L, C], f32; y: [N, Q, C] with Q = floor((L + padding - kernel) / stride) + 1.
// Errors: Error where sizes do not fit.
Value average_pool1d(Value x, const AveragePool1dOptions& options = {});

}  // namespace thimble
