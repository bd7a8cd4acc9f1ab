// Chooses the algorithm for the weight gradient of a convolution, and adds its partial sums.

#include "simd/conv_weights.h"

#include <algorithm>

#include "simd/conv.h"
#include "simd/conv_plan.h"
#include "simd/depthwise.h"
#include "simd/planar_weights.h"
#include "simd/winograd_weights.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/conv_weights.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "simd/conv_weights-inl.h"
#include "simd/depthwise_weights-inl.h"
#include "simd/planar_weights-inl.h"
#include "simd/winograd_weights-inl.h"

#ifndef THIMBLE_SIMD_CONV_WEIGHTS_ONCE_
#define THIMBLE_SIMD_CONV_WEIGHTS_ONCE_
namespace thimble::simd {

// Whether planes are faster; compares rough costs in cycles per output pixel and group for 16-lane
// vectors. With few input channels, lanes filled with channels would be mostly empty. Planes,
// however, compute results that straddle rows, and cutting images into planes takes about half a
// cycle per value.
inline bool prefers_planar_weights(const conv_dims& d) {
  if (whole_group_in(d) >= 16) return false;
  const auto c = static_cast<double>(whole_group_in(d));
  const double k = d.k / d.groups;
  const double taps = static_cast<double>(d.r) * d.s;
  const double inputs = std::min(taps, static_cast<double>(d.stride_h) * d.stride_w);
  const double columns = std::max(1, d.q);
  const double shift = static_cast<double>(d.s - 1) * d.dilation_w / d.stride_w;
  const double planar = k * taps * c / 24 * (columns + shift) / columns + (c * inputs + k) / 2;

  const bool merged = merges_taps(d);
  const double vectors = merged ? static_cast<double>(divide_up(d.s * whole_group_in(d), 16)) : d.s;
  const double tiles = d.r * static_cast<double>(divide_up(d.k / d.groups, 8));
  const double borders = merged && d.pad_left > 0 ? d.s : 0;
  const double wide = tiles * (8 * vectors * 0.56 + (1 + borders) * 20 / columns);
  return planar < wide;
}

// Contents of the workspace, except the scratch of each thread in the planar case.
struct WeightWorkspace {
  ConvPlan plan;
  PlanarShape shape;
  PlanarCopies copies;
  int32_t* offsets;
  float* partial_sums;
  int partials;
};

inline WeightWorkspace carve_weight_workspace(Workspace& workspace, const conv_dims& d) {
  WeightWorkspace all{};
  if (prefers_planar_weights(d)) {
    all.plan = plan_forward(d, workspace);
    // Longer dot products spread the cost of summing lanes at their end; data in the second-level
    // cache is fast enough.
    constexpr int64_t kBatchFloats = 40 * 1024;
    ConvPlan whole = all.plan;
    whole.group_in = static_cast<int>(whole_group_in(d));
    all.shape = planar_shape(whole, whole.group_out, kBatchFloats);
    all.shape.planes = all.shape.planes / whole.group_in * all.plan.group_in;
    all.copies = plan_loads(all.plan, all.shape, workspace);
    all.offsets = workspace.take<int32_t>(int64_t{all.plan.tap_count} * all.plan.group_in);
    all.partials = split_planar_weights(d, all.shape).partials;
  } else {
    const WinogradKind winograd = winograd_weights_kind(d);
    all.partials = winograd != WinogradKind::kNone ? split_winograd_weights(d, winograd, 1).partials
                                                   : split_weights(d).partials;
  }
  all.partial_sums = workspace.take<float>((all.partials - 1) * part_weight_count(d));
  return all;
}

}  // namespace thimble::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// dw[i] += the partial sums, in order. partial_sums: [count, weights]
void add_partial_sums(float* dw, const float* partial_sums, int count, int64_t weights,
                      parallel::ThreadPool& pool) {
  constexpr int64_t kPerTask = 8192;
  const F32 d;
  pool.run(divide_up(weights, kPerTask), [&](int64_t task) {
    const int64_t first = task * kPerTask;
    const int64_t last = std::min(weights, first + kPerTask);
    for (int p = 0; p < count; ++p) {
      const float* from = partial_sums + p * weights;
      int64_t i = first;
      for (; i + lanes() <= last; i += lanes()) {
        hn::StoreU(hn::Add(hn::LoadU(d, dw + i), hn::LoadU(d, from + i)), d, dw + i);
      }
      for (; i < last; ++i) dw[i] += from[i];
    }
  });
}

void run_conv_weights(float* dw, const float* x, const float* dy, void* workspace,
                      const conv_dims& d, parallel::ThreadPool& pool) {
  Workspace carver(workspace);
  if (is_depthwise(d)) {
    conv_weights_depthwise(dw, x, dy, carve_depthwise_sums(carver, d), d, pool);
    return;
  }
  const WeightWorkspace all = carve_weight_workspace(carver, d);
  if (winograd_weights_kind(d) != WinogradKind::kNone) {
    conv_weights_winograd(dw, x, dy, all.partial_sums, d,
                          static_cast<char*>(workspace) + carver.used(), pool);
  } else if (prefers_planar_weights(d)) {
    conv_weights_planar(dw, x, dy, all.partial_sums, d, all.plan, all.shape, all.copies,
                        all.offsets, static_cast<char*>(workspace) + carver.used(), pool);
  } else {
    conv_weights_wide(dw, x, dy, all.partial_sums, d, pool);
  }
  if (all.partials > 1) {
    add_partial_sums(dw, all.partial_sums, all.partials - 1, part_weight_count(d), pool);
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::simd {
HWY_EXPORT(run_conv_weights);

int64_t conv_weights_workspace_bytes(const conv_dims& dims, int threads) {
  const conv_dims d = flattened(dims);
  if (conv_weight_count(d) <= 0) return 0;
  Workspace counter(nullptr);
  if (is_depthwise(d)) {
    carve_depthwise_sums(counter, d);
    return counter.bytes();
  }
  const WeightWorkspace all = carve_weight_workspace(counter, d);
  Workspace scratch(nullptr);
  if (winograd_weights_kind(d) != WinogradKind::kNone) {
    carve_winograd_weight_scratch(scratch,
                                  split_winograd_weights(d, winograd_weights_kind(d), threads));
  } else if (prefers_planar_weights(d)) {
    carve_planar_weight_scratch(scratch, all.plan, all.shape);
  }
  return counter.bytes() + threads * scratch.bytes();
}

double conv_weights_fast_flops(const conv_dims& dims) {
  const conv_dims d = flattened(dims);
  const WinogradKind kind = winograd_weights_kind(d);
  if (kind == WinogradKind::kNone) return direct_flops(d);
  return 2.0 * winograd_weights_cost(d, kind) * d.c * d.k;
}

int64_t conv_weights_part_rows(const conv_dims& dims) {
  const conv_dims d = flattened(dims);
  if (conv_weight_count(d) <= 0 || d.groups != 1 || prefers_planar_weights(d)) return 0;
  return split_weights(d).out_channels;
}

void conv_weights(float* dw, const float* x, const float* dy, void* workspace,
                  const conv_dims& dims, parallel::ThreadPool& pool) {
  const conv_dims d = flattened(dims);
  if (conv_weight_count(d) <= 0) return;
  HWY_DYNAMIC_DISPATCH(run_conv_weights)(dw, x, dy, workspace, d, pool);
}

}  // namespace thimble::simd
#endif
