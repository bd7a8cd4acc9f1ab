// The fast kernels of sum_squares, clip_by_norm and clip_by_value; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/clip_gradient/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::clip_gradient_impl {

// workspace: sum_squares_workspace_bytes(d).
void sum_squares_simd(float* y, const float* x, const float* previous, void* workspace,
                      const clip_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t sum_squares_workspace_bytes(const clip_dims& d);

void clip_by_norm_simd(float* y, const float* grad, const float* squares, const clip_dims* d,
                       parallel::ThreadPool& pool);

void clip_by_value_simd(float* y, const float* grad, const clip_dims* d,
                        parallel::ThreadPool& pool);

}  // namespace thimble::ops::clip_gradient_impl
