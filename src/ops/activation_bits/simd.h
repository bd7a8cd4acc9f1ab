// The fast kernels of activation_bits and grad_by_bits; shapes, layout and aliasing as in ref.h.
// Results do not depend on the number of threads. None throws or allocates.
#pragma once

#include <cstdint>

#include "ops/activation_bits/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::activation_bits_impl {

void activation_bits_simd(uint8_t* bits, const float* x, const bits_dims* d,
                          parallel::ThreadPool& pool);
void grad_by_bits_simd(float* dx, const float* dy, const uint8_t* bits, const grad_by_bits_dims* d,
                       parallel::ThreadPool& pool);

}  // namespace thimble::ops::activation_bits_impl
