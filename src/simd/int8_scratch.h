// The workspace of int8 convolutions.
#pragma once

#include <cstdint>

#include "simd/conv_dims.h"
#include "simd/workspace.h"

namespace thimble::simd {

inline constexpr int kInt8Pixels = 24;          // of a task: whole register tiles of 6 or 8 rows
inline constexpr int kInt8MostLanes = 16;       // of int32 in a vector of any target
inline constexpr int kInt8DepthwiseTaps = 512;  // sums of so many products are exact in float

// How the taps of a window are copied: `runs` runs of `length` bytes that are neighbours in memory.
struct Int8Runs {
  int runs;
  int length;
  bool of_rows;  // a run is a row of the window, else one tap
};

inline Int8Runs int8_runs(const conv_dims& d) {
  const bool of_rows = d.groups == 1 && d.dilation_w == 1;
  if (of_rows) return {d.r, d.s * d.c, true};
  return {d.r * d.s, d.c / d.groups, false};
}

inline bool is_int8_depthwise(const conv_dims& d) {
  return d.groups == d.c && d.k == d.c && d.r * d.s <= kInt8DepthwiseTaps;
}

// Of one group, or of all channels of a depthwise convolution.
struct Int8Scratch {
  int32_t* weights;  // [vectors of channels][words][lanes], or floats [taps][channels]
  int32_t* start;    // per channel: where sums begin
  int32_t* bias;
  float* scale;
  int32_t* pixels;  // [threads][kInt8Pixels][words]
  int words;        // at most
};

inline Int8Scratch carve_int8_scratch(Workspace& own, const conv_dims& d, int threads) {
  Int8Scratch s{};
  const bool depthwise = is_int8_depthwise(d);
  const int64_t channels = round_up(depthwise ? d.k : d.k / d.groups, kInt8MostLanes);
  const Int8Runs runs = int8_runs(d);
  s.words = depthwise ? d.r * d.s : runs.runs * ((runs.length + 1) / 2);
  s.weights = own.take<int32_t>(channels * s.words);
  s.start = own.take<int32_t>(channels);
  s.bias = own.take<int32_t>(channels);
  s.scale = own.take<float>(channels);
  if (!depthwise) s.pixels = own.take<int32_t>(int64_t{threads} * kInt8Pixels * s.words);
  return s;
}

}  // namespace thimble::simd
