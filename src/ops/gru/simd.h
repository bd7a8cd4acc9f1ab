// The fast kernels of gru; shapes, meaning and aliasing as in ref.h. Results do not depend on the
// number of threads. Neither throws nor allocates.
#pragma once

#include <cstdint>

#include "ops/families/recurrent/recurrent_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::gru_impl {

void gru_simd(float* h, float* gates, float* inner, const float* x, const float* w, const float* b,
              const float* h0, void* workspace, const recurrent_dims* d,
              parallel::ThreadPool& pool);
void gru_grad_simd(float* dx, float* du, float* dh0, const float* dh, const float* h,
                   const float* gates, const float* inner, const float* w, const float* h0,
                   void* workspace, const recurrent_dims* d, parallel::ThreadPool& pool);
// Bytes of workspace of either kernel.
[[nodiscard]] int64_t gru_workspace_bytes(const recurrent_dims& d);

}  // namespace thimble::ops::gru_impl
