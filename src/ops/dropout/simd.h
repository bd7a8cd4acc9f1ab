// The fast kernel of dropout; as in ref.h, the same bits.
#pragma once

#include "ops/families/random/random_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::dropout_impl {

void dropout_simd(float* y, const uint32_t* rng, const float* x, const random_dims* d,
                  parallel::ThreadPool& pool);

}  // namespace thimble::ops::dropout_impl
