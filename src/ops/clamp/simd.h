// The fast kernels of clamp; as in ref.h.
#pragma once

#include "ops/families/nary/nary_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::clamp_impl {

void clamp_simd(float* y, const float* x, const float* low, const float* high, const nary_dims* d,
                parallel::ThreadPool& pool);
void clamp_grad_simd(float* dx, const float* dy, const float* x, const float* low,
                     const float* high, const nary_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops::clamp_impl
