// The fast kernels of gated linear units; as in ref.h, to rounding. geglu takes the normal
// distribution function from a rational approximation (Abramowitz and Stegun, "Handbook of
// Mathematical Functions", 7.1.26) that is off by 1.5e-7 at most.
#pragma once

#include "ops/glu/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::glu_impl {

void glu_simd(float* y, const float* x, const glu_dims* d, parallel::ThreadPool& pool);
void glu_grad_simd(float* dx, const float* dy, const float* x, const glu_dims* d,
                   parallel::ThreadPool& pool);
void swiglu_simd(float* y, const float* x, const glu_dims* d, parallel::ThreadPool& pool);
void swiglu_grad_simd(float* dx, const float* dy, const float* x, const glu_dims* d,
                      parallel::ThreadPool& pool);
void geglu_simd(float* y, const float* x, const glu_dims* d, parallel::ThreadPool& pool);
void geglu_grad_simd(float* dx, const float* dy, const float* x, const glu_dims* d,
                     parallel::ThreadPool& pool);

}  // namespace thimble::ops::glu_impl
