// The fast kernel of adagrad_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/adagrad_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::adagrad_update_impl {

void adagrad_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                         const int32_t* step, const float* sum, const adagrad_dims* d,
                         parallel::ThreadPool& pool);

}  // namespace thimble::ops::adagrad_update_impl
