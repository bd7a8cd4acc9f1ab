// The fast kernels of adaptive_average_pool2d; as in ref.h. Each image is a task.
#pragma once

#include "ops/families/update/adaptive_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::adaptive_average_pool2d_impl {

void adaptive_average_pool2d_simd(float* y, const float* x, const adaptive_dims* d,
                                  parallel::ThreadPool& pool);
void adaptive_average_pool2d_grad_simd(float* dx, const float* dy, const adaptive_dims* d,
                                       parallel::ThreadPool& pool);

}  // namespace thimble::ops::adaptive_average_pool2d_impl
