// The fast kernels of log_softmax; as in ref.h.
#pragma once

#include "exec/thread_pool.h"
#include "ops/common/axis_dims.h"

namespace thimble::ops {

// y may be x.
void log_softmax_simd(float* y, const float* x, const axis_dims* d, exec::ThreadPool& pool);

// dx may be dy or y.
void log_softmax_grad_simd(float* dx, const float* dy, const float* y, const axis_dims* d,
                           exec::ThreadPool& pool);

}  // namespace thimble::ops
