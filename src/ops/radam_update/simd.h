// The fast kernel of radam_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/radam_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::radam_update_impl {

void radam_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* m_, const float* v_, const radam_dims* d,
                       parallel::ThreadPool& pool);

}  // namespace thimble::ops::radam_update_impl
