// The fast kernels of sum_squares and clip_by_norm; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "exec/thread_pool.h"
#include "ops/clip_by_norm/dims.h"

namespace thimble::ops {

// workspace: sum_squares_workspace_bytes(d).
void sum_squares_simd(float* y, const float* x, const float* previous, void* workspace,
                      const clip_norm_dims* d, exec::ThreadPool& pool);
[[nodiscard]] int64_t sum_squares_workspace_bytes(const clip_norm_dims& d);

void clip_by_norm_simd(float* y, const float* grad, const float* squares, const clip_norm_dims* d,
                       exec::ThreadPool& pool);

}  // namespace thimble::ops
