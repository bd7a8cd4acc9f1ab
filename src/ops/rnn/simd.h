// The fast kernels of rnn; shapes, meaning and aliasing as in ref.h. Results do not depend on the
// number of threads. Neither throws nor allocates.
#pragma once

#include <cstdint>

#include "ops/families/recurrent/recurrent_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::rnn_impl {

void rnn_simd(float* h, const float* x, const float* w, const float* h0, void* workspace,
              const recurrent_dims* d, parallel::ThreadPool& pool);
void rnn_grad_simd(float* dx, float* dh0, const float* dh, const float* h, const float* w,
                   void* workspace, const recurrent_dims* d, parallel::ThreadPool& pool);
// Bytes of workspace of either kernel.
[[nodiscard]] int64_t rnn_workspace_bytes(const recurrent_dims& d);

}  // namespace thimble::ops::rnn_impl
