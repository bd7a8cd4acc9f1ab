// The fast kernels of lstm; shapes, meaning and aliasing as in ref.h. Results do not depend on the
// number of threads. Neither throws nor allocates.
#pragma once

#include <cstdint>

#include "ops/families/recurrent/recurrent_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::lstm_impl {

void lstm_simd(float* h, float* c, float* gates, const float* x, const float* w, const float* h0,
               const float* c0, void* workspace, const recurrent_dims* d,
               parallel::ThreadPool& pool);
void lstm_grad_simd(float* dx, float* dh0, float* dc0, float* h_before, const float* dh,
                    const float* dc, const float* gates, const float* c, const float* w,
                    const float* c0, const float* h0, void* workspace, const recurrent_dims* d,
                    parallel::ThreadPool& pool);
// Bytes of workspace of either kernel.
[[nodiscard]] int64_t lstm_workspace_bytes(const recurrent_dims& d);

}  // namespace thimble::ops::lstm_impl
