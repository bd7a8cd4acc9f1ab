// The fast kernel of random_uniform; as in ref.h, the same bits.
#pragma once

#include "exec/thread_pool.h"
#include "ops/families/random/random_dims.h"

namespace thimble::ops::random_uniform_impl {

void random_uniform_simd(float* y, const uint32_t* rng, const random_dims* d,
                         exec::ThreadPool& pool);

}  // namespace thimble::ops::random_uniform_impl
