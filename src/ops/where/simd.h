// The fast kernels of where; as in ref.h.
#pragma once

#include <cstdint>

#include "exec/thread_pool.h"
#include "ops/families/nary/nary_dims.h"

namespace thimble::ops::where_impl {

void where_simd(float* y, const uint8_t* condition, const float* a, const float* b,
                const nary_dims* d, exec::ThreadPool& pool);
void where_grad_simd(float* dx, const uint8_t* condition, const float* dy, const nary_dims* d,
                     exec::ThreadPool& pool);

}  // namespace thimble::ops::where_impl
