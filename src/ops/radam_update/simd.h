// The fast kernel of radam_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "exec/thread_pool.h"
#include "ops/radam_update/dims.h"

namespace thimble::ops::radam_update_impl {

void radam_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* m_, const float* v_, const radam_dims* d,
                       exec::ThreadPool& pool);

}  // namespace thimble::ops::radam_update_impl
