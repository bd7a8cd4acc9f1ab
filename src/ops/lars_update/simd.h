// The fast kernel of lars_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/lars_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::lars_update_impl {

// workspace: lars_update_workspace_bytes(d).
void lars_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* step, const float* buffer, void* workspace, const lars_dims* d,
                      parallel::ThreadPool& pool);

[[nodiscard]] int64_t lars_update_workspace_bytes(const lars_dims& d);

}  // namespace thimble::ops::lars_update_impl
