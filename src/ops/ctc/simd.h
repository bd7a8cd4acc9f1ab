// The fast kernels of ctc; as in ref.h, up to rounding. Each sequence is a task; the states of a
// step are computed a vector at a time.
#pragma once

#include <cstdint>

#include "ir/op_def.h"
#include "ops/ctc/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::ctc_impl {

// Bytes of workspace of both kernels; params hold ctc_dims.
int64_t ctc_workspace(const ir::Params& params, int threads);

void ctc_simd(float* y, float* alpha, const float* x, const int32_t* targets,
              const int32_t* input_lengths, const int32_t* target_lengths, void* workspace,
              const ctc_dims* d, parallel::ThreadPool& pool);
void ctc_grad_simd(float* dx, float* beta, const float* dy, const float* x, const float* alpha,
                   const int32_t* targets, const int32_t* input_lengths,
                   const int32_t* target_lengths, void* workspace, const ctc_dims* d,
                   parallel::ThreadPool& pool);

}  // namespace thimble::ops::ctc_impl
