// How conv_rows-inl.h splits its work and its scratch memory. Depends on sizes alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "simd/conv_plan.h"
#include "simd/tile.h"
#include "simd/workspace.h"

namespace thimble::simd {

inline constexpr int kConvDepth = 640;  // depth of a packed panel: 160 KB if it is 64 columns wide

// Scratch memory of one thread.
struct ConvRowsScratch {
  float* panel;            // [taps, channels, panel width]
  float* zeros;            // stands in for pixels outside the image
  ptrdiff_t* offsets;      // [taps], in floats, from a pixel to the pixel that the tap reads
  const float** pointers;  // [taps, kMostTileRows]
};

// The largest block of the contraction whose weights are packed at once.
struct ConvBlockSize {
  int channels, taps;
};

// tap_group: see ConvPlan; groups are not split where they fit.
inline ConvBlockSize depth_block_size(int channels, int taps, int tap_group) {
  const int channel_blocks = static_cast<int>(divide_up(std::max(channels, 1), kConvDepth));
  const int each = static_cast<int>(divide_up(std::max(channels, 1), channel_blocks));
  const int fitting = std::max(1, kConvDepth / each);
  const int group = fitting >= tap_group ? tap_group : 1;
  const int most = fitting / group * group;
  const int64_t tap_blocks = std::max<int64_t>(1, divide_up(taps, most));
  const int64_t taps_each = std::max<int64_t>(1, divide_up(taps, tap_blocks));
  return {each, static_cast<int>(round_up(taps_each, group))};
}

inline ConvRowsScratch carve_conv_rows_scratch(Workspace& workspace, const ConvPlan& plan) {
  const int64_t channels = std::min(plan.group_in, kConvDepth);
  const int64_t taps =
      std::min<int64_t>(plan.tap_count, kConvDepth / std::max<int64_t>(1, channels));
  const int64_t width = std::min<int64_t>(round_up(plan.group_out, 16), kWidestPanel);
  ConvRowsScratch scratch{};
  scratch.panel = workspace.take<float>(taps * channels * width);
  scratch.zeros = workspace.take<float>(channels);
  scratch.offsets = workspace.take<ptrdiff_t>(taps);
  scratch.pointers = workspace.take<const float*>(taps * kMostTileRows);
  return scratch;
}

inline int64_t conv_rows_scratch_bytes(const ConvPlan& plan) {
  Workspace counter(nullptr);
  carve_conv_rows_scratch(counter, plan);
  return counter.bytes();
}

// Pixels per task, out of `pixels`: enough for the cost of packing weights to be small, but few
// enough for the images to stay in the second-level cache while the contraction is sliced, and for
// the tasks (`others` for each chunk of pixels) to be shared among threads.
inline int64_t conv_rows_chunk(int64_t pixels, int64_t others) {
  constexpr int64_t kWantedTasks = 16;
  constexpr int64_t kLeast = 288;
  constexpr int64_t kMost = 1536;
  const int64_t even = divide_up(pixels, divide_up(kWantedTasks, std::max<int64_t>(1, others)));
  return round_up(std::clamp(even, kLeast, kMost), kAllTileRows);
}

}  // namespace thimble::simd
