// The fast kernels of minimum; as in ref.h.
#pragma once

#include "exec/thread_pool.h"
#include "ops/common/nary_dims.h"

namespace thimble::ops {

void minimum_simd(float* y, const float* a, const float* b, const nary_dims* d,
                  exec::ThreadPool& pool);
void minimum_grad_simd(float* dx, const float* dy, const float* a, const float* b,
                       const nary_dims* d, exec::ThreadPool& pool);

}  // namespace thimble::ops
