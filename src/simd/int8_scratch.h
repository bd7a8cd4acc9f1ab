// The workspace of int8 convolutions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd/conv_dims.h"
#include "simd/workspace.h"

namespace thimble::simd {

inline constexpr int kInt8Pixels = 24;        // of a task: whole register tiles of 6 or 8 rows
inline constexpr int kInt8MostLanes = 16;     // of int32 in a vector of any target
inline constexpr int kInt8DepthwiseRun = 32;  // pixels of a row whose columns are packed at once

// Depthwise windows span fewer columns.
inline constexpr int kInt8DepthwiseReach = 1024;

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
  return d.groups == d.c && d.k == d.c && int64_t{d.s - 1} * d.dilation_w < kInt8DepthwiseReach;
}

// Columns of the image under so many neighbouring pixels of a row.
inline int64_t int8_depthwise_columns(const conv_dims& d, int pixels) {
  return int64_t{pixels - 1} * d.stride_w + int64_t{d.s - 1} * d.dilation_w + 1;
}
inline int int8_depthwise_run(const conv_dims& d) {
  // Of wide strides one pixel at a time, so that columns between windows cost nothing.
  return d.stride_w > kInt8DepthwiseReach / kInt8DepthwiseRun ? 1 : kInt8DepthwiseRun;
}

// Of 64 channels at once (int8_depthwise-inl.h).
inline constexpr int kInt8WideChannels = 64;
inline constexpr int kInt8WideRun = 16;

inline int int8_wide_run(const conv_dims& d) {
  return std::min(kInt8WideRun, int8_depthwise_run(d));
}

// How many channels of a depthwise convolution go 64 at once: those behind are none, or a vector.
inline int int8_wide_channels(int channels) {
  const int wide = channels / kInt8WideChannels * kInt8WideChannels;
  const int rest = channels - wide;
  return rest == 0 || rest >= kInt8MostLanes ? wide : std::max(wide - kInt8WideChannels, 0);
}

// The channel at a position of the packed arrays, of which the first `wide` are interleaved: in 64
// of them, a vector has the channels 4 v to 4 v + 3 of every 16.
inline int int8_channel_at(int position, int wide) {
  if (position >= wide) return position;
  const int lane = position % kInt8MostLanes;
  const int vector = position % kInt8WideChannels / kInt8MostLanes;
  return position / kInt8WideChannels * kInt8WideChannels + lane / 4 * 16 + vector * 4 + lane % 4;
}

// Of one group, or of all channels of a depthwise convolution.
struct Int8Scratch {
  int32_t* weights;  // [vectors of channels][words][lanes]; depthwise: [columns][words][channels]
  int32_t* start;    // per channel: where sums begin
  int32_t* bias;
  float* scale;
  int32_t* multiplier;  // of fixed point
  int32_t* shift;       // to the right
  int32_t* pixels;      // [threads][rows][words]; depthwise: [threads][worker_words]
  int64_t worker_words;
  int words;  // at most
  int rows;   // of a task: kInt8Pixels, or the whole register tiles that hold all pixels
};

inline Int8Scratch carve_int8_scratch(Workspace& own, const conv_dims& d, int threads) {
  Int8Scratch s{};
  const bool depthwise = is_int8_depthwise(d);
  const int64_t channels = round_up(depthwise ? d.k : d.k / d.groups, kInt8MostLanes);
  const Int8Runs runs = int8_runs(d);
  s.words = depthwise ? d.s * ((d.r + 1) / 2) : runs.runs * ((runs.length + 1) / 2);
  s.weights = own.take<int32_t>(channels * s.words);
  s.start = own.take<int32_t>(channels);
  s.bias = own.take<int32_t>(channels);
  s.scale = own.take<float>(channels);
  s.multiplier = own.take<int32_t>(channels);
  s.shift = own.take<int32_t>(channels);
  if (depthwise) {
    int64_t columns = int8_depthwise_columns(d, int8_depthwise_run(d));
    if (int8_wide_channels(d.c) > 0) {
      columns = std::max(columns, 4 * int8_depthwise_columns(d, int8_wide_run(d)));
    }
    s.worker_words = columns * ((d.r + 1) / 2) * kInt8MostLanes;
    s.pixels = own.take<int32_t>(threads * s.worker_words);
    return s;
  }
  const int64_t pixels = int64_t{d.n} * d.p * d.q;
  s.rows = static_cast<int>(
      std::min<int64_t>(kInt8Pixels, std::max(round_up(pixels, 6), round_up(pixels, 8))));
  const int64_t workers = pixels <= kInt8Pixels ? 1 : threads;  // a single task runs on the caller
  s.pixels = own.take<int32_t>(workers * s.rows * s.words);
  return s;
}

}  // namespace thimble::simd
