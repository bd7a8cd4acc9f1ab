// The fast kernels of average pooling; shapes, layout and aliasing as in ref.h.
// Results do not depend on the number of threads. None throws or allocates.
#pragma once

#include "ops/average_pool2d/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::average_pool2d_impl {

void average_pool2d_simd(float* y, const float* x, const pool_dims* d, parallel::ThreadPool& pool);
void average_pool2d_grad_simd(float* dx, const float* dy, const pool_dims* d,
                              parallel::ThreadPool& pool);

}  // namespace thimble::ops::average_pool2d_impl
