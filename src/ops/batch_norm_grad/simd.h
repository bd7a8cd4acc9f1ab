// The fast kernel of batch_norm_grad; shapes, layout and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "ops/batch_norm_grad/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::batch_norm_grad_impl {

// workspace: batch_norm_grad_workspace_bytes(d, pool.threads()) bytes of any alignment,
// uninitialised. Results do not depend on the number of threads. Neither throws nor allocates.
void batch_norm_grad_simd(float* dx, float* dgamma, float* dbeta, const float* dy, const float* x,
                          const float* mean, const float* variance, const float* gamma,
                          void* workspace, const batch_norm_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t batch_norm_grad_workspace_bytes(const batch_norm_dims& d, int threads);

// The same for dy, x and dx of 16 bits; the parameters are widened ones (ir/widened.h).
void batch_norm_grad_16bit(const ir::KernelCall& call);
[[nodiscard]] int64_t batch_norm_grad_16bit_workspace_bytes(const batch_norm_dims& d, int threads);

}  // namespace thimble::ops::batch_norm_grad_impl
