// The fast kernels of to_half and from_half; shapes, layout and aliasing as in ref.h, and the same
// bits. None throws or allocates.
#pragma once

#include <cstdint>

#include "exec/thread_pool.h"
#include "ops/half_storage/dims.h"

namespace thimble::ops::half_storage_impl {

void to_half_simd(uint16_t* y, const float* x, const half_dims* d, exec::ThreadPool& pool);
void from_half_simd(float* y, const uint16_t* x, const half_dims* d, exec::ThreadPool& pool);

}  // namespace thimble::ops::half_storage_impl
