// The fast kernel of transpose; as in ref.h, for elements of any size.
#pragma once

#include "exec/thread_pool.h"
#include "ops/common/strided_dims.h"

namespace thimble::ops {

// x, y: elements of 4 bytes; y does not alias x.
void transpose_simd(float* y, const float* x, const strided_dims* d, exec::ThreadPool& pool);

}  // namespace thimble::ops
