// The fast kernel of average_weights; shapes and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/average_weights/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::average_weights_impl {

void average_weights_simd(float* average_out, const float* average, const float* param,
                          const int32_t* step, const average_weights_dims* d,
                          parallel::ThreadPool& pool);

}  // namespace thimble::ops::average_weights_impl
