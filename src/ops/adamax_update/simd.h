// The fast kernel of adamax_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/adamax_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::adamax_update_impl {

void adamax_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                        const int32_t* step, const float* m_, const float* u_, const adamax_dims* d,
                        parallel::ThreadPool& pool);

}  // namespace thimble::ops::adamax_update_impl
