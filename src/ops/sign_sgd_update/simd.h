// The fast kernel of sign_sgd_update; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/sign_sgd_update/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::sign_sgd_update_impl {

void sign_sgd_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                          const int32_t* step, const float* buffer, const sign_sgd_dims* d,
                          parallel::ThreadPool& pool);

}  // namespace thimble::ops::sign_sgd_update_impl
