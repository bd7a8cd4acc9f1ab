// The fast kernel of conv2d_weight_grad; shapes, layout and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/conv2d_weight_grad/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::conv2d_weight_grad_impl {

// workspace: conv2d_weight_grad_workspace_bytes(d, pool.threads()) bytes of any alignment,
// uninitialised. Results do not depend on the number of threads. Neither throws nor allocates.
void conv2d_weight_grad_simd(float* dw, const float* x, const float* dy, void* workspace,
                             const conv2d_weight_grad_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t conv2d_weight_grad_workspace_bytes(const conv2d_weight_grad_dims& d,
                                                         int threads);

}  // namespace thimble::ops::conv2d_weight_grad_impl
