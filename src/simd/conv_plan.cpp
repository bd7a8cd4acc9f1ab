#include "simd/conv_plan.h"

#include <algorithm>
#include <cstdint>

namespace thimble::simd {
namespace {

ConvPlan common_plan(const conv_dims& d) {
  ConvPlan plan{};
  plan.images = d.n;
  plan.groups = d.groups;
  plan.pad_top = d.pad_top, plan.pad_left = d.pad_left;
  plan.activation = d.activation;
  plan.add_previous = d.accumulate != 0;
  plan.tap_count = d.r * d.s;
  plan.tap_group = 1;
  plan.group_weights = static_cast<ptrdiff_t>(d.k / d.groups) * d.r * d.s * (d.c / d.groups);
  return plan;
}

ptrdiff_t tap_weight(const conv_dims& d, int r, int s) {
  return (static_cast<ptrdiff_t>(r) * d.s + s) * (d.c / d.groups);
}

// Output row h of the adjoint uses input row p at tap r where p * stride + r * dilation - pad = h.
// In the phase of h = phase + i * stride that is p = i + (phase + pad - r * dilation) / stride if
// the division is exact: each r belongs to one phase or to none.
TapRange adjoint_range(int window, int dilation, int pad, int stride, int phases) {
  TapRange range{};
  bool any = false;
  for (int r = 0; r < window; ++r) {
    for (int phase = 0; phase < phases; ++phase) {
      const int from = phase + pad - r * dilation;
      if (from % stride != 0) continue;
      const int offset = from / stride;
      range.first = any ? std::min(range.first, offset) : offset;
      range.last = any ? std::max(range.last, offset) : offset;
      any = true;
    }
  }
  return range;
}

}  // namespace

conv_dims flattened(conv_dims d) {
  const bool pointwise = d.r == 1 && d.s == 1 && d.stride_h == 1 && d.stride_w == 1 &&
                         d.pad_top == 0 && d.pad_left == 0 && d.h == d.p && d.w == d.q;
  const int64_t pixels = static_cast<int64_t>(d.n) * d.h * d.w;
  if (!pointwise || pixels > INT32_MAX) return d;
  d.n = 1;
  d.h = d.p = 1;
  d.w = d.q = static_cast<int>(pixels);
  return d;
}

ConvPlan plan_forward(const conv_dims& d, Workspace& workspace) {
  ConvPlan plan = common_plan(d);
  plan.in_h = d.h, plan.in_w = d.w, plan.in_c = d.c;
  plan.out_h = d.p, plan.out_w = d.q, plan.out_c = d.k;
  plan.group_in = d.c / d.groups, plan.group_out = d.k / d.groups;
  plan.row_step = d.stride_h, plan.column_step = d.stride_w;
  plan.out_row_step = plan.out_column_step = 1;
  plan.weight_out_step = static_cast<ptrdiff_t>(d.r) * d.s * plan.group_in;
  plan.weight_in_step = 1;
  plan.phase_count = 1;
  if (d.dilation_w == 1 && d.groups == 1) plan.tap_group = d.s;
  plan.tap_rows = {-d.pad_top, (d.r - 1) * d.dilation_h - d.pad_top};
  plan.tap_columns = {-d.pad_left, (d.s - 1) * d.dilation_w - d.pad_left};
  auto* taps = workspace.take<ConvTap>(plan.tap_count);
  auto* phase = workspace.take<ConvPhase>(1);
  if (taps == nullptr) return plan;

  ConvTap* next = taps;
  for (int r = 0; r < d.r; ++r) {
    for (int s = 0; s < d.s; ++s) {
      *next++ = {r * d.dilation_h - d.pad_top, s * d.dilation_w - d.pad_left, tap_weight(d, r, s)};
    }
  }
  *phase = {0, 0, d.p, d.q, taps, plan.tap_count};
  plan.phases = phase;
  return plan;
}

ConvPlan plan_adjoint(const conv_dims& d, Workspace& workspace) {
  ConvPlan plan = common_plan(d);
  plan.in_h = d.p, plan.in_w = d.q, plan.in_c = d.k;
  plan.out_h = d.h, plan.out_w = d.w, plan.out_c = d.c;
  plan.group_in = d.k / d.groups, plan.group_out = d.c / d.groups;
  plan.row_step = plan.column_step = 1;
  plan.out_row_step = d.stride_h, plan.out_column_step = d.stride_w;
  plan.weight_out_step = 1;
  plan.weight_in_step = static_cast<ptrdiff_t>(d.r) * d.s * plan.group_out;
  const int row_phases = std::min(d.stride_h, d.h);
  const int column_phases = std::min(d.stride_w, d.w);
  plan.phase_count = row_phases * column_phases;
  if (d.dilation_w == 1 && d.stride_w == 1 && d.groups == 1) plan.tap_group = d.s;
  plan.tap_rows = adjoint_range(d.r, d.dilation_h, d.pad_top, d.stride_h, row_phases);
  plan.tap_columns = adjoint_range(d.s, d.dilation_w, d.pad_left, d.stride_w, column_phases);
  auto* taps = workspace.take<ConvTap>(plan.tap_count);
  auto* phases = workspace.take<ConvPhase>(plan.phase_count);
  if (taps == nullptr) return plan;

  ConvTap* next = taps;
  ConvPhase* phase = phases;
  for (int row = 0; row < row_phases; ++row) {
    for (int column = 0; column < column_phases; ++column, ++phase) {
      *phase = {row,
                column,
                (d.h - row + d.stride_h - 1) / d.stride_h,
                (d.w - column + d.stride_w - 1) / d.stride_w,
                next,
                0};
      for (int r = 0; r < d.r; ++r) {
        const int from_row = row + d.pad_top - r * d.dilation_h;
        if (from_row % d.stride_h != 0) continue;
        for (int s = d.s - 1; s >= 0; --s) {  // columns in ascending order
          const int from_column = column + d.pad_left - s * d.dilation_w;
          if (from_column % d.stride_w != 0) continue;
          *next++ = {from_row / d.stride_h, from_column / d.stride_w, tap_weight(d, r, s)};
        }
      }
      phase->tap_count = static_cast<int>(next - phase->taps);
    }
  }
  plan.phases = phases;
  return plan;
}

}  // namespace thimble::simd
