// The fast kernels of binary_cross_entropy; as in ref.h, to rounding.
#pragma once

#include "exec/thread_pool.h"
#include "ops/common/loss_dims.h"

namespace thimble::ops {

// workspace: loss_workspace() bytes.
void binary_cross_entropy_simd(float* y, const float* x, const float* t, void* workspace,
                               const loss_dims* d, exec::ThreadPool& pool);

// dx may alias x or t.
void binary_cross_entropy_grad_simd(float* dx, const float* dy, const float* x, const float* t,
                                    const loss_dims* d, exec::ThreadPool& pool);

}  // namespace thimble::ops
