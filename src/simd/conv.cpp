// Chooses how to run a convolution or its adjoint.

#include "simd/conv.h"

#include <algorithm>

#include "simd/conv_plan.h"
#include "simd/conv_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/conv.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "simd/conv_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

void run_conv(const ConvPlan& plan, float* y, const float* x, const float* w, const float* bias,
              char* scratch, exec::ThreadPool& pool) {
  conv_rows(plan, y, x, w, bias, scratch, pool);
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::simd {
HWY_EXPORT(run_conv);

namespace {

using Planner = ConvPlan (*)(const conv_dims&, Workspace&);

int64_t workspace_bytes(const conv_dims& d, int threads, Planner planner) {
  Workspace counter(nullptr);
  const ConvPlan plan = planner(flattened(d), counter);
  return counter.bytes() + threads * conv_rows_scratch_bytes(plan);
}

void run(float* y, const float* x, const float* w, const float* bias, void* workspace,
         const conv_dims& d, exec::ThreadPool& pool, Planner planner) {
  Workspace carver(workspace);
  const ConvPlan plan = planner(flattened(d), carver);
  if (plan.images <= 0 || plan.out_h <= 0 || plan.out_w <= 0 || plan.out_c <= 0) return;
  HWY_DYNAMIC_DISPATCH(run_conv)
  (plan, y, x, w, bias, static_cast<char*>(workspace) + carver.used(), pool);
}

}  // namespace

int64_t conv_workspace_bytes(const conv_dims& d, int threads) {
  return workspace_bytes(d, threads, plan_forward);
}

void conv(float* y, const float* x, const float* w, const float* bias, void* workspace,
          const conv_dims& d, exec::ThreadPool& pool) {
  run(y, x, w, bias, workspace, d, pool, plan_forward);
}

int64_t conv_adjoint_workspace_bytes(const conv_dims& d, int threads) {
  return workspace_bytes(d, threads, plan_adjoint);
}

void conv_adjoint(float* dx, const float* dy, const float* w, const float* bias, void* workspace,
                  const conv_dims& d, exec::ThreadPool& pool) {
  run(dx, dy, w, bias, workspace, d, pool, plan_adjoint);
}

}  // namespace thimble::simd
#endif
