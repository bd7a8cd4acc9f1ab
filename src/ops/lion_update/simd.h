// The fast kernel of lion_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/lion_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::lion_update_impl {

void lion_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* step, const float* m_, const lion_dims* d,
                      parallel::ThreadPool& pool);

}  // namespace thimble::ops::lion_update_impl
