// The fast kernels of to_half and from_half; shapes, layout and aliasing as in ref.h, and the same
// bits. None throws or allocates.
#pragma once

#include <cstdint>

#include "ops/half_storage/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::half_storage_impl {

void to_half_simd(uint16_t* y, const float* x, const half_dims* d, parallel::ThreadPool& pool);
void from_half_simd(float* y, const uint16_t* x, const half_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops::half_storage_impl
