// The fast kernel of argmax along the last axis (inner = 1); as in ref.h.
#pragma once

#include <cstdint>

#include "exec/thread_pool.h"
#include "ops/common/axis_dims.h"

namespace thimble::ops {

void argmax_simd(int32_t* y, const float* x, const axis_dims* d, exec::ThreadPool& pool);

}  // namespace thimble::ops
