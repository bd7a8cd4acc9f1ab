// The fast kernels of upsample2d; shapes as in ref.h, nothing aliases.
#pragma once

#include <cstdint>

#include "ir/op_def.h"
#include "ops/upsample2d/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::upsample2d_impl {

// Bytes of workspace of both kernels; params hold upsample2d_dims.
int64_t upsample2d_workspace(const ir::Params& params, int threads);
int64_t upsample2d_grad_workspace(const ir::Params& params, int threads);

void upsample2d_simd(float* y, const float* x, void* workspace, const upsample2d_dims* d,
                     parallel::ThreadPool& pool);
void upsample2d_grad_simd(float* dx, const float* dy, void* workspace, const upsample2d_dims* d,
                          parallel::ThreadPool& pool);

}  // namespace thimble::ops::upsample2d_impl
