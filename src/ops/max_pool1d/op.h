#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct MaxPool1dOptions {
  int64_t kernel = 2;
  int64_t stride = 0;  // 0: as large as the kernel
  Padding padding;     // cells at the ends that are never the largest: 1 for both, {0, 0, left,
                       // right}; below the kernel
};

// The largest value of every window: y[n, q, c] = max over s of x[n, q*stride + s - padding, c].
// It is max_pool2d on images one row high: views alone are added.
// x: [N, L, C], f32; y: [N, Q, C] with Q = floor((L + padding - kernel) / stride) + 1.
// Errors: Error where sizes do not fit.
Value max_pool1d(Value x, const MaxPool1dOptions& options = {});

}  // namespace thimble
