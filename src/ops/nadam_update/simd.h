// The fast kernel of nadam_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/nadam_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::nadam_update_impl {

void nadam_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* m_, const float* v_,
                       const float* mu_product, const nadam_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops::nadam_update_impl
