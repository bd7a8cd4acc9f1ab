// The fast kernels of batch normalization, in the simd.cpp of their ops. Shapes, layout and
// aliasing as in their ref.h. workspace: the bytes that the function beside it says for
// pool.threads(), of any alignment, uninitialised. Results do not depend on the number of threads.
// None throws or allocates.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "ops/families/norm/batch_norm_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::batch_norm_impl {
void batch_norm_simd(float* y, float* mean, float* variance, const float* x, const float* gamma,
                     const float* beta, const float* running_mean, const float* running_var,
                     void* workspace, const batch_norm_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t batch_norm_workspace_bytes(const batch_norm_dims& d, int threads);
// The same of bf16 or f16 tensors; the params of a call are those of ir/widened.h.
void batch_norm_16bit(const ir::KernelCall& call);
[[nodiscard]] int64_t batch_norm_16bit_workspace_bytes(const batch_norm_dims& d, int threads);
}  // namespace thimble::ops::batch_norm_impl

namespace thimble::ops::batch_norm_grad_impl {
void batch_norm_grad_simd(float* dx, float* dgamma, float* dbeta, const float* dy, const float* x,
                          const float* mean, const float* variance, const float* gamma,
                          void* workspace, const batch_norm_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t batch_norm_grad_workspace_bytes(const batch_norm_dims& d, int threads);
// The same of bf16 or f16 tensors; the params of a call are those of ir/widened.h.
void batch_norm_grad_16bit(const ir::KernelCall& call);
[[nodiscard]] int64_t batch_norm_grad_16bit_workspace_bytes(const batch_norm_dims& d, int threads);
}  // namespace thimble::ops::batch_norm_grad_impl

namespace thimble::ops::batch_norm_inference_impl {
void batch_norm_inference_simd(float* y, const float* x, const float* gamma, const float* beta,
                               const float* mean, const float* variance, void* workspace,
                               const batch_norm_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t batch_norm_inference_workspace_bytes(const batch_norm_dims& d);
// The same of bf16 or f16 tensors; the params of a call are those of ir/widened.h.
void batch_norm_inference_16bit(const ir::KernelCall& call);
[[nodiscard]] int64_t batch_norm_inference_16bit_workspace_bytes(const batch_norm_dims& d);
}  // namespace thimble::ops::batch_norm_inference_impl
