// The fast kernel of batch_norm_inference; shapes, layout and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/batch_norm_inference/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::batch_norm_inference_impl {

// workspace: batch_norm_inference_workspace_bytes(d) bytes of any alignment, uninitialised.
// Results do not depend on the number of threads. Neither throws nor allocates.
void batch_norm_inference_simd(float* y, const float* x, const float* gamma, const float* beta,
                               const float* mean, const float* variance, void* workspace,
                               const batch_norm_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t batch_norm_inference_workspace_bytes(const batch_norm_dims& d);

}  // namespace thimble::ops::batch_norm_inference_impl
