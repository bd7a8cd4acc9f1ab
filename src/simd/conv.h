// 2-D convolution and its two gradients on the best vector target of this machine. Images are NHWC,
// weights [k, r, s, c/groups], as in ops/families/conv/conv_dims.h. Outputs alias no input. Results
// do not depend on the number of threads. Nothing here throws or allocates: the workspace has the
// stated number of bytes, at any alignment, uninitialized.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.h"
#include "simd/conv_dims.h"

namespace thimble::simd {

// Floating-point operations of the formula, and of each of its gradients.
inline double direct_flops(const conv_dims& d) {
  return 2.0 * d.n * d.p * d.q * d.k * d.r * d.s * (d.c / d.groups);
}

// y = act(conv(x, w) + bias (+ y)). x: [n, h, w, c], bias: [k] or null, y: [n, p, q, k].
void conv(float* y, const float* x, const float* w, const float* bias, void* workspace,
          const conv_dims& d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t conv_workspace_bytes(const conv_dims& d, int threads);
// Floating-point operations that take as long: fewer than the formula's where tiles save some.
[[nodiscard]] double conv_fast_flops(const conv_dims& d);

// dx = act(adjoint of conv(., w) at dy + bias (+ dx)). dy: [n, p, q, k], bias: [c] or null,
// dx: [n, h, w, c].
void conv_adjoint(float* dx, const float* dy, const float* w, const float* bias, void* workspace,
                  const conv_dims& d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t conv_adjoint_workspace_bytes(const conv_dims& d, int threads);
[[nodiscard]] double conv_adjoint_fast_flops(const conv_dims& d);

// The same with the integers of int8 weights, without a bias: the bits are those for f32 weights of
// these values. Workspace as above.
void conv_adjoint(float* dx, const float* dy, const int8_t* w, void* workspace, const conv_dims& d,
                  parallel::ThreadPool& pool);
// The same of a depthwise convolution of stride 1 whose image and result have one size, in place:
// dx holds dy before.
void conv_adjoint_in_place(float* dx, const int8_t* w, void* workspace, const conv_dims& d,
                           parallel::ThreadPool& pool);
[[nodiscard]] int64_t conv_adjoint_in_place_workspace_bytes(const conv_dims& d, int threads);

// dw = gradient of <conv(x, w), dy> in w (+ dw). x: [n, h, w, c], dy: [n, p, q, k],
// dw: [k, r, s, c/groups].
void conv_weights(float* dw, const float* x, const float* dy, void* workspace, const conv_dims& d,
                  parallel::ThreadPool& pool);
[[nodiscard]] int64_t conv_weights_workspace_bytes(const conv_dims& d, int threads);
[[nodiscard]] double conv_weights_fast_flops(const conv_dims& d);
// Number of output channels whose weight gradient one call can compute (conv_dims::k_first) with
// unchanged bits; multiples are valid, too. 0: only all channels at once.
[[nodiscard]] int64_t conv_weights_part_rows(const conv_dims& d);

}  // namespace thimble::simd
