// The fast kernel of regularize_gradient; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "exec/thread_pool.h"
#include "ops/regularize_gradient/dims.h"

namespace thimble::ops::regularize_gradient_impl {

void regularize_gradient_simd(float* y, const float* grad, const float* param,
                              const regularize_gradient_dims* d, exec::ThreadPool& pool);

}  // namespace thimble::ops::regularize_gradient_impl
