// The fast kernel of adadelta_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/adadelta_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::adadelta_update_impl {

void adadelta_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                          const int32_t* step, const float* v_, const float* acc,
                          const adadelta_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops::adadelta_update_impl
