// The fast kernel of adam_update and adamw_update; shapes and aliasing as in adam_ref.h.
#pragma once

#include <cstdint>

#include "ops/families/update/adam_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {

void adam_simd(float* const* out, const float* param, const float* grad, const float* lr,
               const int32_t* step, const float* m, const float* v, const float* top,
               const adam_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops
