// Sizes of the depthwise kernels: convolutions with one input and one output channel per group.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd/conv_plan.h"
#include "simd/tile.h"
#include "simd/workspace.h"

namespace thimble::simd {

inline bool is_depthwise(const conv_dims& d) {
  return d.groups > 1 && d.groups == d.c && d.c == d.k;
}

// Channels, rounded up to whole vectors.
inline int64_t padded_channels(int channels) { return round_up(channels, 16); }

// Weights in the order in which lanes read them. Shared by all threads.
struct DepthwiseTables {
  float* weights;  // [taps of all phases, padded channels]
  float* bias;     // [padded channels]
};

inline DepthwiseTables carve_depthwise_tables(Workspace& workspace, const ConvPlan& plan) {
  DepthwiseTables tables{};
  tables.weights = workspace.take<float>(plan.tap_count * padded_channels(plan.out_c));
  tables.bias = workspace.take<float>(padded_channels(plan.out_c));
  return tables;
}

// A tap that lies inside the image for a given output row.
struct DepthwiseTap {
  const float* row;      // the input row, at the column that the tap adds to the pixel's
  const float* weights;  // [padded channels]
  int column;
};

// Scratch of one thread: the taps of one output row.
inline DepthwiseTap* carve_depthwise_scratch(Workspace& workspace, const ConvPlan& plan) {
  return workspace.take<DepthwiseTap>(plan.tap_count);
}

// Scratch of one thread where the result takes the place of the image: some of its channels, at
// most those of the widest panel.
struct DepthwiseCopy {
  DepthwiseTap* taps;
  float* pixels;  // [pixels of an image, channels of a panel]
};

inline DepthwiseCopy carve_depthwise_copy(Workspace& workspace, const ConvPlan& plan) {
  const int64_t channels = std::min<int64_t>(padded_channels(plan.out_c), kWidestPanel);
  DepthwiseCopy copy{};
  copy.taps = carve_depthwise_scratch(workspace, plan);
  copy.pixels = workspace.take<float>(int64_t{plan.in_h} * plan.in_w * channels);
  return copy;
}

// Whether that many floats, with other data in use, exceed the first-level cache.
inline bool exceeds_first_cache(int64_t floats) {
  constexpr int64_t kFloats = (24 << 10) / 4;
  return floats > kFloats;
}

// Output rows per task.
inline int depthwise_rows(const ConvPlan& plan) {
  constexpr int64_t kTaskMultiplyAdds = int64_t{1} << 18;
  const int64_t taps = divide_up(plan.tap_count, plan.phase_count);
  const int64_t per_row = std::max<int64_t>(1, taps * plan.out_c * plan.phase_columns());
  return static_cast<int>(std::clamp<int64_t>(kTaskMultiplyAdds / per_row, 1, plan.phase_rows()));
}

// Split of the weight gradient: output rows of all images are divided among `partials` sums.
struct DepthwiseWeightSplit {
  int partials;
  int64_t rows;  // per partial sum
};

inline DepthwiseWeightSplit split_depthwise_weights(const conv_dims& d) {
  constexpr int64_t kMostPartials = 16;
  constexpr int64_t kLeastMultiplyAdds = int64_t{1} << 17;
  const int64_t rows = static_cast<int64_t>(d.n) * d.p;
  const int64_t work = rows * d.q * (d.c_of > 0 ? d.c_of : d.c) * d.r * d.s;
  const int64_t partials =
      std::max<int64_t>(1, std::min({kMostPartials, work / kLeastMultiplyAdds, rows}));
  return {static_cast<int>(partials), divide_up(rows, partials)};
}

// [partials, taps, padded channels]
inline float* carve_depthwise_sums(Workspace& workspace, const conv_dims& d) {
  return workspace.take<float>(split_depthwise_weights(d).partials * static_cast<int64_t>(d.r) *
                               d.s * padded_channels(d.c));
}

}  // namespace thimble::simd
