// The fast kernels of convolutions, in the simd.cpp of their ops. Shapes, layout and aliasing as in
// their ref.h. workspace: the bytes that the function beside it says for pool.threads(), of any
// alignment, uninitialised. Results do not depend on the number of threads. None throws or
// allocates.
#pragma once

#include <cstdint>

#include "ops/families/conv/conv_kernel_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::conv2d_impl {
void conv2d_simd(float* y, const float* x, const float* w, const float* bias, void* workspace,
                 const conv2d_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t conv2d_workspace_bytes(const conv2d_dims& d, int threads);
}  // namespace thimble::ops::conv2d_impl

namespace thimble::ops::conv2d_input_grad_impl {
void conv2d_input_grad_simd(float* dx, const float* dy, const float* w, const float* bias,
                            void* workspace, const conv2d_input_grad_dims* d,
                            parallel::ThreadPool& pool);
[[nodiscard]] int64_t conv2d_input_grad_workspace_bytes(const conv2d_input_grad_dims& d,
                                                        int threads);
}  // namespace thimble::ops::conv2d_input_grad_impl

namespace thimble::ops::conv2d_weight_grad_impl {
void conv2d_weight_grad_simd(float* dw, const float* x, const float* dy, void* workspace,
                             const conv2d_weight_grad_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t conv2d_weight_grad_workspace_bytes(const conv2d_weight_grad_dims& d,
                                                         int threads);
}  // namespace thimble::ops::conv2d_weight_grad_impl

namespace thimble::ops::conv_transpose2d_impl {
void conv_transpose2d_simd(float* y, const float* x, const float* w, const float* bias,
                           void* workspace, const conv_transpose2d_dims* d,
                           parallel::ThreadPool& pool);
[[nodiscard]] int64_t conv_transpose2d_workspace_bytes(const conv_transpose2d_dims& d, int threads);
// As simd::conv_adjoint_fast_flops().
[[nodiscard]] double conv_transpose2d_fast_flops(const conv_dims& d);
}  // namespace thimble::ops::conv_transpose2d_impl
