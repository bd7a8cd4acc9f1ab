// When conv_scatter-inl.h is chosen, and its memory. Depends on sizes alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd/conv_plan.h"
#include "simd/workspace.h"

namespace thimble::simd {

// Floats of the sums of one image, at most.
inline constexpr int64_t kScatterSums = 16 << 10;

// The sums of an image have columns beside those of the result, for products that belong nowhere:
// column j of the result is at left + j.
struct ScatterColumns {
  int left, width;
};

inline ScatterColumns scatter_columns(const ConvPlan& plan) {
  const int left = std::max(0, plan.tap_columns.last);
  return {left, left + std::max(plan.out_w, plan.in_w - plan.tap_columns.first)};
}

inline int64_t scatter_sums(const ConvPlan& plan) {
  return int64_t{plan.out_h} * scatter_columns(plan).width * plan.out_c;
}

// A stride of 1 and an input that is smaller than the result, as of the adjoint of a convolution
// without padding: where results are gathered, a part of all taps reads zeros around the input.
inline bool can_scatter(const ConvPlan& plan) {
  return plan.groups == 1 && plan.phase_count == 1 && plan.row_step == 1 && plan.column_step == 1 &&
         plan.out_row_step == 1 && plan.out_column_step == 1 && plan.tap_count > 1 &&
         int64_t{plan.in_h} * plan.in_w < int64_t{plan.out_h} * plan.out_w &&
         scatter_sums(plan) <= kScatterSums;
}

// Weights of an input channel: those of each group of taps are read in whole vectors.
inline int64_t scatter_pitch(const ConvPlan& plan) {
  return round_up(int64_t{plan.tap_count} * plan.out_c, 16) + 16;
}

// Cycles per output pixel, in the measure of direct_conv (conv.cpp).
inline double scatter_cost(const ConvPlan& plan) {
  const double inputs =
      static_cast<double>(plan.in_h) * plan.in_w / (static_cast<double>(plan.out_h) * plan.out_w);
  const double groups = static_cast<double>(plan.tap_count) / plan.tap_group;
  const auto vectors = static_cast<double>(divide_up(int64_t{plan.tap_group} * plan.out_c, 16));
  return inputs * groups * (vectors * (plan.in_c / 2.0 + 2) + 2) + plan.out_c / 8.0;
}

// Weights in the order in which they are read, shared by all threads: [in_c, pitch].
inline float* carve_scatter_weights(Workspace& workspace, const ConvPlan& plan) {
  return workspace.take<float>(plan.in_c * scatter_pitch(plan));
}

// The sums of one image, of one thread: [out_h, ScatterColumns::width, out_c].
inline float* carve_scatter_sums(Workspace& workspace, const ConvPlan& plan) {
  return workspace.take<float>(scatter_sums(plan));
}

}  // namespace thimble::simd
