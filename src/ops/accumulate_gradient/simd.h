// The fast kernels of accumulate_gradient and mean_gradient; shapes and aliasing as in ref.h.
#pragma once

#include "ops/accumulate_gradient/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::accumulate_gradient_impl {

void accumulate_gradient_simd(float* sum_out, const float* sum, const float* grad,
                              const accumulate_dims* d, parallel::ThreadPool& pool);
void mean_gradient_simd(float* mean, float* sum_out, const float* sum, const float* grad,
                        const float* total, const accumulate_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops::accumulate_gradient_impl
