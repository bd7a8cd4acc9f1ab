// The fast kernels of adaptive_average_pool2d; as in ref.h. Each image is a task.
#pragma once

#include "exec/thread_pool.h"
#include "ops/families/update/adaptive_dims.h"

namespace thimble::ops::adaptive_average_pool2d_impl {

void adaptive_average_pool2d_simd(float* y, const float* x, const adaptive_dims* d,
                                  exec::ThreadPool& pool);
void adaptive_average_pool2d_grad_simd(float* dx, const float* dy, const adaptive_dims* d,
                                       exec::ThreadPool& pool);

}  // namespace thimble::ops::adaptive_average_pool2d_impl
