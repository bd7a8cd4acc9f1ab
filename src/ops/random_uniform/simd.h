// The fast kernel of random_uniform; as in ref.h, the same bits.
#pragma once

#include "ops/families/random/random_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::random_uniform_impl {

void random_uniform_simd(float* y, const uint32_t* rng, const random_dims* d,
                         parallel::ThreadPool& pool);

}  // namespace thimble::ops::random_uniform_impl
