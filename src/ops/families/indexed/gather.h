// The fast kernel of ops that copy selected elements of a tensor, such as transpose and slice.
#pragma once

#include "ops/families/move/strided_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {

// As STRIDED_GATHER_REF, for elements of 4 bytes; y does not alias x.
void gather_simd(float* y, const float* x, const strided_dims* d, parallel::ThreadPool& pool);

// As STRIDED_GATHER_REF, for elements of any size; calls the reference kernel where the size is not
// 4 bytes.
template <auto reference>
void gather(unsigned char* y, const unsigned char* x, const strided_dims* d,
            parallel::ThreadPool& pool) {
  if (d->element.bits != 32) return reference(y, x, d);
  gather_simd(reinterpret_cast<float*>(y), reinterpret_cast<const float*>(x), d, pool);
}

}  // namespace thimble::ops
