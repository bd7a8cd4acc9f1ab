// The fast kernels of gaussian_kl; as in ref.h, to rounding.
#pragma once

#include "ops/families/loss/loss_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::gaussian_kl_impl {

// workspace: loss_workspace() bytes.
void gaussian_kl_simd(float* y, const float* mean, const float* logvar, void* workspace,
                      const loss_dims* d, parallel::ThreadPool& pool);

// dmean may alias mean, dlogvar logvar.
void gaussian_kl_grad_simd(float* dmean, float* dlogvar, const float* dy, const float* mean,
                           const float* logvar, const loss_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops::gaussian_kl_impl
