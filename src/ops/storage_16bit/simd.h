// The fast kernels of to_16bit and from_16bit; shapes, layout and aliasing as in ref.h, and the
// same bits. None throws or allocates.
#pragma once

#include <cstdint>

#include "ops/storage_16bit/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::storage_16bit_impl {

void to_16bit_simd(uint16_t* y, const float* x, const bits16_dims* d, parallel::ThreadPool& pool);
void from_16bit_simd(float* y, const uint16_t* x, const bits16_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops::storage_16bit_impl
