// The fast kernel of rmsprop_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/rmsprop_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::rmsprop_update_impl {

void rmsprop_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                         const int32_t* step, const float* v, const float* second,
                         const float* third, const rmsprop_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops::rmsprop_update_impl
