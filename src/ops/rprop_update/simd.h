// The fast kernel of rprop_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/rprop_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::rprop_update_impl {

void rprop_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* prev, const float* sizes,
                       const rprop_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops::rprop_update_impl
