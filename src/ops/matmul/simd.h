// The fast kernel of matmul; shapes, layout and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/matmul/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::matmul_impl {

// workspace: matmul_workspace_bytes(d, pool.threads()) bytes of any alignment, uninitialised.
// Results do not depend on the number of threads. Neither throws nor allocates.
void matmul_simd(float* y, const float* a, const float* b, const float* bias, void* workspace,
                 const matmul_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t matmul_workspace_bytes(const matmul_dims& d, int threads);

}  // namespace thimble::ops::matmul_impl
