// Shared by layer_norm and rms_norm: checks, sizes and fast kernels.
#pragma once

#include "ir/op_def.h"
#include "ops/families/norm/row_norm_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {

// The last `dims` dimensions of a shape, or all dimensions before them.
Shape last_dims(const Shape& x, int64_t dims);
Shape first_dims(const Shape& x, int64_t dims);

// Fails unless input i is f32 and has that many dimensions.
void check_row_norm(const ir::InferContext& c, int i, int64_t dims);
// Fails unless inputs first to last are left out or f32 of this shape.
void check_same_shape(const ir::InferContext& c, int first, int last, const Shape& shape);

row_norm_dims row_norm_sizes(const Shape& x, int64_t dims, double epsilon);

// As layer_norm_ref and rms_norm_ref. y may alias x.
void layer_norm_simd(float* y, float* mean, float* rstd, const float* x, const float* gamma,
                     const float* beta, const row_norm_dims* d, parallel::ThreadPool& pool);
void rms_norm_simd(float* y, float* rstd, const float* x, const float* gamma,
                   const row_norm_dims* d, parallel::ThreadPool& pool);

// Recomputes y from the statistics, as layer_norm_apply_ref and rms_norm_apply_ref. y may alias x.
void layer_norm_apply_simd(float* y, const float* x, const float* gamma, const float* beta,
                           const float* mean, const float* rstd, const row_norm_dims* d,
                           parallel::ThreadPool& pool);
void rms_norm_apply_simd(float* y, const float* x, const float* gamma, const float* rstd,
                         const row_norm_dims* d, parallel::ThreadPool& pool);

// As layer_norm_grad_ref and rms_norm_grad_ref. dx may alias dy or x. workspace:
// row_norm_grad_workspace() bytes; params hold row_norm_dims. Rows are cut into blocks of fixed
// size, each with its own sums of the parameters' gradients, so results do not depend on the number
// of threads.
int64_t row_norm_grad_workspace(const ir::Params& params, int threads);
void layer_norm_grad_simd(float* dx, float* dgamma, float* dbeta, const float* dy, const float* x,
                          const float* mean, const float* rstd, const float* gamma, void* workspace,
                          const row_norm_dims* d, parallel::ThreadPool& pool);
void rms_norm_grad_simd(float* dx, float* dgamma, const float* dy, const float* x,
                        const float* rstd, const float* gamma, void* workspace,
                        const row_norm_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops
