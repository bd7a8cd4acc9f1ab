// The fast kernel of conv2d; shapes, layout and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/conv2d/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::conv2d_impl {

// workspace: conv2d_workspace_bytes(d, pool.threads()) bytes of any alignment, uninitialised.
// Results do not depend on the number of threads. Neither throws nor allocates.
void conv2d_simd(float* y, const float* x, const float* w, const float* bias, void* workspace,
                 const conv2d_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t conv2d_workspace_bytes(const conv2d_dims& d, int threads);

}  // namespace thimble::ops::conv2d_impl
