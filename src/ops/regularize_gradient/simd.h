// The fast kernel of regularize_gradient; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/regularize_gradient/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::regularize_gradient_impl {

void regularize_gradient_simd(float* y, const float* grad, const float* param,
                              const regularize_gradient_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops::regularize_gradient_impl
