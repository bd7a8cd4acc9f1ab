// The fast kernel of random_normal; as in ref.h, to rounding.
#pragma once

#include "exec/thread_pool.h"
#include "ops/families/random/random_dims.h"

namespace thimble::ops::random_normal_impl {

void random_normal_simd(float* y, const uint32_t* rng, const random_dims* d,
                        exec::ThreadPool& pool);

}  // namespace thimble::ops::random_normal_impl
