// The fast kernels of prelu; shapes and aliasing as in ref.h. Blocks of rows are summed
// independently, then added in order: results do not depend on the number of threads.
#pragma once

#include <cstdint>

#include "ir/op_def.h"
#include "ops/prelu/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::prelu_impl {

// Bytes of workspace of both kernels; params hold prelu_dims.
int64_t prelu_workspace(const ir::Params& params, int threads);
int64_t prelu_grad_workspace(const ir::Params& params, int threads);

void prelu_simd(float* y, const float* x, const float* weight, void* workspace, const prelu_dims* d,
                parallel::ThreadPool& pool);
void prelu_grad_simd(float* dx, float* dweight, const float* dy, const float* x,
                     const float* weight, void* workspace, const prelu_dims* d,
                     parallel::ThreadPool& pool);

}  // namespace thimble::ops::prelu_impl
