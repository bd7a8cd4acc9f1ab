// The fast kernel of adafactor_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/adafactor_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::adafactor_update_impl {

// workspace: adafactor_update_workspace_bytes(d).
void adafactor_update_simd(float* const* out, const float* param, const float* grad,
                           const float* lr, const int32_t* step, const float* first,
                           const float* second, void* workspace, const adafactor_dims* d,
                           parallel::ThreadPool& pool);

[[nodiscard]] int64_t adafactor_update_workspace_bytes(const adafactor_dims& d);

}  // namespace thimble::ops::adafactor_update_impl
