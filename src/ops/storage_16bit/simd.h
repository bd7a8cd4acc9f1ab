// The fast kernels of to_16bit and from_16bit; shapes, layout and aliasing as in ref.h, and the
// same bits. None throws or allocates.
#pragma once

#include <cstdint>

#include "ops/storage_16bit/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::storage_16bit_impl {

void to_16bit_simd(uint16_t* y, const float* x, const bits16_dims* d, parallel::ThreadPool& pool);
void from_16bit_simd(float* y, const uint16_t* x, const bits16_dims* d, parallel::ThreadPool& pool);

// The same for n values on the calling thread.
void to_16bit_values(uint16_t* y, const float* x, int64_t n, bool brain_16);
void from_16bit_values(float* y, const uint16_t* x, int64_t n, bool brain_16);

}  // namespace thimble::ops::storage_16bit_impl
