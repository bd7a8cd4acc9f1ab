// The fast kernels of local_response_norm; shapes as in ref.h, nothing aliases.
#pragma once

#include <cstdint>

#include "ir/op_def.h"
#include "ops/local_response_norm/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::local_response_norm_impl {

// Bytes of workspace for both; params hold local_response_norm_dims.
int64_t local_response_norm_workspace(const ir::Params& params, int threads);

void local_response_norm_simd(float* y, const float* x, void* workspace,
                              const local_response_norm_dims* d, parallel::ThreadPool& pool);
void local_response_norm_grad_simd(float* dx, const float* dy, const float* x, void* workspace,
                                   const local_response_norm_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops::local_response_norm_impl
