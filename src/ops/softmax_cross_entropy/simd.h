// The fast kernels of softmax_cross_entropy; as in ref.h, to rounding.
#pragma once

#include <cstdint>

#include "ir/op_def.h"
#include "ops/softmax_cross_entropy/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::softmax_cross_entropy_impl {

// Bytes of workspace of the loss; params hold cross_entropy_dims.
int64_t softmax_cross_entropy_workspace(const ir::Params& params, int threads);

void softmax_cross_entropy_simd(float* y, const float* x, const void* labels, const float* weight,
                                void* workspace, const cross_entropy_dims* d,
                                parallel::ThreadPool& pool);

// dx may be x.
void softmax_cross_entropy_grad_simd(float* dx, const float* dy, const float* x, const void* labels,
                                     const float* weight, const cross_entropy_dims* d,
                                     parallel::ThreadPool& pool);

}  // namespace thimble::ops::softmax_cross_entropy_impl
