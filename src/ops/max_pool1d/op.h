#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct MaxPool1dOptions {
  int64_t kernel = 2;
  int64_t stride = 0;      // 0: as large as the kernel
  Padding padding;         // cells at the ends that are never the largest: 1 for both, {0, 0, left,
                           // right}; below the window
  int64_t dilation = 1;    // from one cell of the window to the next
  bool ceil_mode = false;  // a last window that reaches beyond the padding counts, too
};

// The largest value of every window: y[n, q, c] = max over s of x[n, q*stride + s*dilation -
// padding, c]. It is max_pool2d on images one row high: views alone are added. x: [N, L, C], f32;
// y: [N, Q, C] with Q = floor((L + padding - dilation * (kernel - 1) - 1) / stride) + 1. Errors:
// Error where sizes do not fit.
Value max_pool1d(Value x, const MaxPool1dOptions& options = {});

struct MaxPool1dResult {
  Value y;
  Value index;  // where the largest values stood, i32
};

// max_pool1d and where in the sequence the largest values stood, both [N, Q, C].
MaxPool1dResult max_pool1d_with_indices(Value x, const MaxPool1dOptions& options = {});

}  // namespace thimble
