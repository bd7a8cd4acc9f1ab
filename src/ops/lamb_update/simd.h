// The fast kernel of lamb_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/lamb_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::lamb_update_impl {

// workspace: lamb_update_workspace_bytes(d).
void lamb_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* step, const float* m_, const float* v_, void* workspace,
                      const lamb_dims* d, parallel::ThreadPool& pool);

[[nodiscard]] int64_t lamb_update_workspace_bytes(const lamb_dims& d);

}  // namespace thimble::ops::lamb_update_impl
