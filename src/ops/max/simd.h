// The fast kernels of max; as in ref.h.
#pragma once

#include "exec/thread_pool.h"
#include "ops/common/reduce_dims.h"

namespace thimble::ops {

// Both are for dims that matrices_of calls regular.
void max_simd(float* y, const float* x, const reduce_dims* d, exec::ThreadPool& pool);

// dx may be x.
void max_grad_simd(float* dx, const float* dy, const float* x, const float* y, const reduce_dims* d,
                   exec::ThreadPool& pool);

}  // namespace thimble::ops
