// The fast kernel of batch_norm; shapes, layout and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "ops/batch_norm/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::batch_norm_impl {

// workspace: batch_norm_workspace_bytes(d, pool.threads()) bytes of any alignment, uninitialised.
// Results do not depend on the number of threads. Neither throws nor allocates.
void batch_norm_simd(float* y, float* mean, float* variance, const float* x, const float* gamma,
                     const float* beta, const float* running_mean, const float* running_var,
                     void* workspace, const batch_norm_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t batch_norm_workspace_bytes(const batch_norm_dims& d, int threads);

// The same for x and y of 16 bits; the parameters are widened ones (ir/widened.h).
void batch_norm_16bit(const ir::KernelCall& call);
[[nodiscard]] int64_t batch_norm_16bit_workspace_bytes(const batch_norm_dims& d, int threads);

}  // namespace thimble::ops::batch_norm_impl
