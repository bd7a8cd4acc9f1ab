// The fast kernel of dropout; as in ref.h, the same bits.
#pragma once

#include "exec/thread_pool.h"
#include "ops/families/random/random_dims.h"

namespace thimble::ops::dropout_impl {

void dropout_simd(float* y, const uint32_t* rng, const float* x, const random_dims* d,
                  exec::ThreadPool& pool);

}  // namespace thimble::ops::dropout_impl
