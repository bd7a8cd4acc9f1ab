// The fast kernels of normalize for contiguous vectors (inner = 1) and p = 2.
#pragma once

#include "ops/normalize/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::normalize_impl {

// y may be x.
void normalize_simd(float* y, float* norm, const float* x, const normalize_dims* d,
                    parallel::ThreadPool& pool);

// dx may be dy or y.
void normalize_grad_simd(float* dx, const float* dy, const float* y, const float* norm,
                         const normalize_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops::normalize_impl
