// Shared by group_norm and instance_norm: checks, sizes and fast kernels.
#pragma once

#include "ir/op_def.h"
#include "ops/families/norm/group_norm_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {

// Fails unless input i is f32 [N, ..., C] and the groups divide C.
void check_groups(const ir::InferContext& c, int i, int64_t groups);

// The recompute rule of y for an op {y, mean, variance} = norm(x, gamma, beta, ...).
[[nodiscard]] ir::RebuildRule group_norm_rebuild(double epsilon);

group_norm_dims group_norm_sizes(const Shape& x, int64_t groups, double epsilon);

// As normalise_groups_ref. y may alias x. workspace: group_norm_workspace() bytes; params hold
// group_norm_dims. Images are cut into blocks of fixed size, so results do not depend on the number
// of threads.
int64_t group_norm_workspace(const ir::Params& params, int threads);
void normalise_groups(float* y, float* mean, float* variance, const float* x, const float* gamma,
                      const float* beta, void* workspace, const group_norm_dims* d,
                      parallel::ThreadPool& pool);

// Recomputes y from the statistics, as group_norm_apply_ref. y may alias x. workspace as above.
void scale_groups(float* y, const float* x, const float* gamma, const float* beta,
                  const float* mean, const float* variance, void* workspace,
                  const group_norm_dims* d, parallel::ThreadPool& pool);

// As group_norm_grad_ref. dx may alias dy or x.
int64_t group_norm_grad_workspace(const ir::Params& params, int threads);
void normalise_groups_grad(float* dx, float* dgamma, float* dbeta, const float* dy, const float* x,
                           const float* mean, const float* variance, const float* gamma,
                           void* workspace, const group_norm_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops
