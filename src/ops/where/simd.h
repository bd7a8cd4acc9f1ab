// The fast kernels of where; as in ref.h.
#pragma once

#include <cstdint>

#include "ops/families/nary/nary_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::where_impl {

void where_simd(float* y, const uint8_t* condition, const float* a, const float* b,
                const nary_dims* d, parallel::ThreadPool& pool);
void where_grad_simd(float* dx, const uint8_t* condition, const float* dy, const nary_dims* d,
                     parallel::ThreadPool& pool);

}  // namespace thimble::ops::where_impl
