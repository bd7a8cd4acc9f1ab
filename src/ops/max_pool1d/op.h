#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct MaxPool1dOptions {
  int64_t kernel = 2;
  int64_t stride = 0;      // 0: the size of the kernel
  Padding padding;         // cells at the ends that are never the largest: 1 for both, {0, 0, left,
                           // right}; below the window
  int64_t dilation = 1;    // distance between elements of the window
  bool ceil_mode = false;  // keep a last window that reaches beyond the padding
};

// The maximum of every window: y[n, q, c] = max over s of x[n, q*stride + s*dilation - padding, c].
// Computed as max_pool2d of images of height 1; the reshapes are views. x: [N, L, C], f32; y: [N,
// Q, C] with Q = floor((L + padding - dilation * (kernel - 1) - 1) / stride) + 1. Errors: Error if
// sizes do not match.
Value max_pool1d(Value x, const MaxPool1dOptions& options = {});

struct MaxPool1dResult {
  Value y;
  Value index;  // positions of the maxima, i32
};

// max_pool1d, and the positions of the maxima in the sequence; both [N, Q, C].
MaxPool1dResult max_pool1d_with_indices(Value x, const MaxPool1dOptions& options = {});

}  // namespace thimble
