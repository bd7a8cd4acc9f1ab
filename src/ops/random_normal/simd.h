// The fast kernel of random_normal; as in ref.h, to rounding.
#pragma once

#include "ops/families/random/random_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::random_normal_impl {

void random_normal_simd(float* y, const uint32_t* rng, const random_dims* d,
                        parallel::ThreadPool& pool);

}  // namespace thimble::ops::random_normal_impl
