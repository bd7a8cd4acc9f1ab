// Chooses the algorithm for a convolution or its adjoint.

#include "simd/conv.h"

#include <algorithm>

#include "simd/conv_plan.h"
#include "simd/conv_planar.h"
#include "simd/conv_rows.h"
#include "simd/conv_scatter.h"
#include "simd/depthwise.h"
#include "simd/winograd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/conv.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "simd/conv_planar-inl.h"
#include "simd/conv_rows-inl.h"
#include "simd/conv_scatter-inl.h"
#include "simd/depthwise-inl.h"
#include "simd/winograd-inl.h"

#ifndef THIMBLE_SIMD_CONV_ONCE_
#define THIMBLE_SIMD_CONV_ONCE_
namespace thimble::simd {

inline bool is_depthwise(const ConvPlan& plan) {
  return plan.groups > 1 && plan.group_in == 1 && plan.group_out == 1;
}

enum class DirectConv { kRows, kPlanes, kScatter };

// The fastest way; compares rough costs in cycles per output pixel for 16-lane vectors.
// With few output channels, lanes filled with channels would be mostly empty, and computing the
// address of an input pixel takes as long as adding a few of them. Planes, however, compute results
// that straddle rows, and cutting images into planes and joining them takes about half a cycle per
// value.
inline DirectConv direct_conv(const ConvPlan& plan) {
  if (plan.group_out >= 32) return DirectConv::kRows;
  const double taps = static_cast<double>(plan.tap_count) / std::max(1, plan.phase_count);
  const double inputs = static_cast<double>(plan.in_h) * plan.in_w /
                        std::max(1.0, static_cast<double>(plan.out_h) * plan.out_w);
  const double columns = std::max(1, plan.phase_columns());
  const double shift = (plan.tap_columns.last - plan.tap_columns.first) / plan.column_step;
  const double planes = taps * plan.group_in * plan.group_out / 32 * (columns + shift) / columns +
                        (inputs * plan.group_in + plan.group_out) / 2;
  const double vectors = static_cast<double>(divide_up(plan.group_out, 16));
  const double rows = taps * (plan.group_in * vectors / 2 + 2.0 / plan.tap_group) + 24;
  if (can_scatter(plan) && scatter_cost(plan) < 0.8 * std::min(planes, rows)) {
    return DirectConv::kScatter;
  }
  return planes < rows ? DirectConv::kPlanes : DirectConv::kRows;
}

}  // namespace thimble::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

void run_conv(const ConvPlan& plan, float* y, const float* x, const ConvWeights& w,
              const float* bias, Workspace& workspace, char* base, parallel::ThreadPool& pool) {
  if (is_depthwise(plan)) {
    const DepthwiseTables tables = carve_depthwise_tables(workspace, plan);
    conv_depthwise(plan, y, x, w, bias, tables, base + workspace.used(), pool);
  } else if (winograd_kind(plan) != WinogradKind::kNone) {
    conv_winograd(plan, y, x, w, bias, workspace, base, pool);
  } else {
    switch (direct_conv(plan)) {
      case DirectConv::kPlanes:
        return conv_planar(plan, y, x, w, bias, workspace, base, pool);
      case DirectConv::kScatter:
        return conv_scatter(plan, y, x, w, bias, workspace, base, pool);
      case DirectConv::kRows:
        return conv_rows(plan, y, x, w, bias, base + workspace.used(), pool);
    }
  }
}

void run_conv_in_place(const ConvPlan& plan, float* y, const ConvWeights& w, Workspace& workspace,
                       char* base, parallel::ThreadPool& pool) {
  const DepthwiseTables tables = carve_depthwise_tables(workspace, plan);
  conv_depthwise_in_place(plan, y, w, tables, base + workspace.used(), pool);
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::simd {
HWY_EXPORT(run_conv);
HWY_EXPORT(run_conv_in_place);

namespace {

using Planner = ConvPlan (*)(const conv_dims&, Workspace&);

int64_t workspace_bytes(const conv_dims& d, int threads, Planner planner) {
  Workspace counter(nullptr);
  const ConvPlan plan = planner(flattened(d), counter);
  Workspace scratch(nullptr);
  if (is_depthwise(plan)) {
    carve_depthwise_tables(counter, plan);
    carve_depthwise_scratch(scratch, plan);
  } else if (winograd_kind(plan) != WinogradKind::kNone) {
    const WinogradSplit split = split_winograd(plan, threads);
    carve_winograd_weights(counter, plan, split);
    carve_winograd_scratch(scratch, split);
  } else {
    switch (direct_conv(plan)) {
      case DirectConv::kPlanes: {
        const PlanarShape shape = planar_shape(plan, planar_result_planes(plan));
        carve_planar_tables(counter, plan, shape, planar_out_channels(plan));
        carve_planar_scratch(scratch, plan, shape);
        break;
      }
      case DirectConv::kScatter:
        carve_scatter_weights(counter, plan);
        carve_scatter_sums(scratch, plan);
        break;
      case DirectConv::kRows:
        carve_conv_rows_scratch(scratch, plan);
    }
  }
  return counter.bytes() + threads * scratch.bytes();
}

double fast_flops(const conv_dims& d, Planner planner) {
  Workspace counter(nullptr);
  const ConvPlan plan = planner(flattened(d), counter);
  const WinogradKind kind = winograd_kind(plan);
  if (kind == WinogradKind::kNone) return direct_flops(d);
  return 2.0 * choose_winograd(plan, kind, 1).cost * d.c * d.k;
}

void run(float* y, const float* x, const ConvWeights& w, const float* bias, void* workspace,
         const conv_dims& d, parallel::ThreadPool& pool, Planner planner) {
  Workspace carver(workspace);
  const ConvPlan plan = planner(flattened(d), carver);
  if (plan.images <= 0 || plan.out_h <= 0 || plan.out_w <= 0 || plan.out_c <= 0) return;
  HWY_DYNAMIC_DISPATCH(run_conv)
  (plan, y, x, w, bias, carver, static_cast<char*>(workspace), pool);
}

}  // namespace

int64_t conv_workspace_bytes(const conv_dims& d, int threads) {
  return workspace_bytes(d, threads, plan_forward);
}

double conv_fast_flops(const conv_dims& d) { return fast_flops(d, plan_forward); }

void conv(float* y, const float* x, const float* w, const float* bias, void* workspace,
          const conv_dims& d, parallel::ThreadPool& pool) {
  run(y, x, {.f32 = w}, bias, workspace, d, pool, plan_forward);
}

int64_t conv_adjoint_workspace_bytes(const conv_dims& d, int threads) {
  return workspace_bytes(d, threads, plan_adjoint);
}

double conv_adjoint_fast_flops(const conv_dims& d) { return fast_flops(d, plan_adjoint); }

void conv_adjoint(float* dx, const float* dy, const float* w, const float* bias, void* workspace,
                  const conv_dims& d, parallel::ThreadPool& pool) {
  run(dx, dy, {.f32 = w}, bias, workspace, d, pool, plan_adjoint);
}

void conv_adjoint(float* dx, const float* dy, const int8_t* w, void* workspace, const conv_dims& d,
                  parallel::ThreadPool& pool) {
  run(dx, dy, {.i8 = w}, nullptr, workspace, d, pool, plan_adjoint);
}

int64_t conv_adjoint_in_place_workspace_bytes(const conv_dims& d, int threads) {
  Workspace counter(nullptr);
  const ConvPlan plan = plan_adjoint(d, counter);
  carve_depthwise_tables(counter, plan);
  Workspace scratch(nullptr);
  carve_depthwise_copy(scratch, plan);
  return counter.bytes() + threads * scratch.bytes();
}

void conv_adjoint_in_place(float* dx, const int8_t* w, void* workspace, const conv_dims& d,
                           parallel::ThreadPool& pool) {
  Workspace carver(workspace);
  const ConvPlan plan = plan_adjoint(d, carver);
  if (plan.images <= 0) return;
  HWY_DYNAMIC_DISPATCH(run_conv_in_place)
  (plan, dx, {.i8 = w}, carver, static_cast<char*>(workspace), pool);
}

}  // namespace thimble::simd
#endif
