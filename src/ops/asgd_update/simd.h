// The fast kernel of asgd_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/asgd_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::asgd_update_impl {

void asgd_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* step, const float* ax, const float* eta, const asgd_dims* d,
                      parallel::ThreadPool& pool);

}  // namespace thimble::ops::asgd_update_impl
