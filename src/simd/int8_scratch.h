// The workspace of int8 convolutions, and how their images are shared among tasks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd/conv_dims.h"
#include "simd/workspace.h"

namespace thimble::simd {

inline constexpr int kInt8Pixels = 24;        // of a small task: register tiles of 6 or 8 rows
inline constexpr int kInt8MostPixels = 192;   // of a large one
inline constexpr int kInt8MostLanes = 16;     // of int32 in a vector of any target
inline constexpr int kInt8DepthwiseRun = 32;  // pixels of a row whose columns are packed at once

// Depthwise windows span fewer columns.
inline constexpr int kInt8DepthwiseReach = 1024;

// A product of a row and a matrix.
inline bool is_int8_row(const conv_dims& d) {
  return d.r == 1 && d.s == 1 && d.groups == 1 && d.n == 1 && d.h == 1 && d.w == 1 && d.p == 1 &&
         d.q == 1 && d.pad_top == 0 && d.pad_left == 0;
}

// A convolution of one pixel an image, or of a window of one pixel, as one of a single row of
// pixels, which tasks share evenly. x, w and y keep their places.
inline conv_dims int8_flattened(const conv_dims& d) {
  if (d.groups != 1 || d.pad_top != 0 || d.pad_left != 0 || is_int8_row(d)) return d;
  const bool of_pixels =
      d.r == 1 && d.s == 1 && d.stride_h == 1 && d.stride_w == 1 && d.p == d.h && d.q == d.w;
  const bool of_images =
      d.r == d.h && d.s == d.w && d.p == 1 && d.q == 1 && d.dilation_h == 1 && d.dilation_w == 1;
  const int64_t pixels = int64_t{d.n} * d.p * d.q;
  const int64_t channels = int64_t{d.c} * d.r * d.s;
  if (!(of_pixels || of_images) || pixels > INT32_MAX || channels > INT32_MAX) return d;
  conv_dims flat = d;
  flat.n = flat.h = flat.p = flat.r = flat.s = 1;
  flat.w = flat.q = static_cast<int>(pixels);
  flat.c = static_cast<int>(channels);
  flat.stride_h = flat.stride_w = flat.dilation_h = flat.dilation_w = 1;
  return flat;
}

// A line is a row of y, or an image where rows are short. Tasks take blocks of its pixels.
struct Int8Blocks {
  int64_t lines;
  int64_t line;       // pixels
  int pixels;         // of a block, at most
  int rows, columns;  // of y under a block, at most
  [[nodiscard]] int64_t in_line() const { return divide_up(line, pixels); }
  [[nodiscard]] int64_t blocks() const { return lines * in_line(); }
};

inline Int8Blocks int8_blocks(const conv_dims& d, int pixels) {
  if (d.q >= pixels) return {int64_t{d.n} * d.p, d.q, pixels, 1, pixels};
  const int rows = std::min(d.p, (pixels - 2) / std::max(d.q, 1) + 2);
  return {d.n, int64_t{d.p} * d.q, pixels, rows, d.q};
}

// Copies of the pixels that neighbouring windows read along one axis: each once, or for each window
// where windows lie far apart.
struct Int8Axis {
  int slots;      // for as many windows as a block has
  int step, tap;  // slots between neighbouring windows, and between their taps
  int stride, dilation, taps;
  bool for_each_window;

  [[nodiscard]] int used(int windows) const {
    if (taps == 0) return 0;
    return for_each_window ? windows * taps : (windows - 1) * step + (taps - 1) * tap + 1;
  }
  // The pixel in a slot, counted from the first of the first window.
  [[nodiscard]] int64_t pixel(int slot) const {
    if (!for_each_window) return slot;
    return int64_t{slot / taps} * stride + int64_t{slot % taps} * dilation;
  }
};

inline Int8Axis int8_axis(int windows, int stride, int taps, int dilation) {
  const int64_t once = int64_t{windows - 1} * stride + int64_t{taps - 1} * dilation + 1;
  const bool for_each_window = once > int64_t{windows} * taps;
  Int8Axis axis{0, stride, dilation, stride, dilation, taps, for_each_window};
  if (for_each_window) axis.step = taps, axis.tap = 1;
  axis.slots = axis.used(windows);
  return axis;
}

// The pixels that a block reads, of the channels of one group: [rows][columns][channels]. The taps
// of a window are `runs` runs of `length` numbers that are neighbours there.
struct Int8Patch {
  Int8Axis rows, columns;
  int channels;
  int runs, length;
  [[nodiscard]] int64_t pitch() const { return int64_t{columns.slots} * channels; }
  // With what the last word reads behind the last pixel.
  [[nodiscard]] int64_t elements() const { return rows.slots * pitch() + 4; }
};

inline Int8Patch int8_patch(const conv_dims& d, int pixels) {
  const Int8Blocks blocks = int8_blocks(d, pixels);
  Int8Patch patch{int8_axis(blocks.rows, d.stride_h, d.r, d.dilation_h),
                  int8_axis(blocks.columns, d.stride_w, d.s, d.dilation_w), d.c / d.groups, 0, 0};
  const bool of_rows = patch.columns.tap == 1 || d.s == 1;
  patch.runs = of_rows ? d.r : d.r * d.s;
  patch.length = of_rows ? d.s * patch.channels : patch.channels;
  if (d.s == 0) patch.runs = 0;
  return patch;
}

// Of a row (is_int8_row).
inline Int8Patch int8_row_patch(const conv_dims& d) {
  constexpr Int8Axis kOne{1, 1, 1, 1, 1, 1, false};
  return {kOne, kOne, d.c, 1, d.c};
}

// Pixels of a task: larger blocks copy fewer pixels twice. They are small enough for several
// threads and for the first-level cache.
inline int int8_block_pixels(const conv_dims& d) {
  constexpr int64_t kMostProducts = int64_t{1} << 20;
  constexpr int64_t kMostElements = int64_t{1} << 14;
  const int64_t products = int64_t{d.r} * d.s * (d.c / d.groups) * (d.k / d.groups);
  int pixels = kInt8MostPixels;
  while (pixels > kInt8Pixels &&
         (pixels * products > kMostProducts || int8_patch(d, pixels).elements() > kMostElements)) {
    pixels -= kInt8Pixels;
  }
  // Whole rows: no two blocks copy what one row reads.
  return d.q > kInt8Pixels && d.q < pixels ? pixels / d.q * d.q : pixels;
}

inline bool is_int8_depthwise(const conv_dims& d) {
  return d.groups == d.c && d.k == d.c && d.r > 0 && d.s > 0 &&
         int64_t{d.s - 1} * d.dilation_w < kInt8DepthwiseReach;
}

// Rows of y that share the words of a column, of `unit` rows each, without more words.
inline int int8_depthwise_rows(const conv_dims& d, int unit) {
  const int64_t both = int64_t{d.r} + d.stride_h;
  return d.dilation_h == 1 && divide_up(both, unit) == divide_up(d.r, unit) ? 2 : 1;
}
// Packed words of a channel, for each of those rows, of `unit` numbers each.
inline int int8_depthwise_words(const conv_dims& d, int unit) {
  return d.s * int8_depthwise_rows(d, unit) * static_cast<int>(divide_up(d.r, unit));
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

// Depthwise windows whose columns are made in registers (int8_depthwise_quick-inl.h).
inline bool is_int8_quick_depthwise(const conv_dims& d) {
  if (d.s != 3 || d.r > 4 || d.dilation_h != 1 || d.dilation_w != 1) return false;
  // Windows of stride 1 in two rows of y, which share words, or of stride 2 in one.
  const bool shares = int8_depthwise_rows(d, 4) == 2;
  return (d.stride_w == 1 && shares) || (d.stride_w == 2 && !shares);
}

// The channel at a position of the packed arrays, of which the first `wide` are interleaved: in 64
// of them, a vector has the channels 4 v to 4 v + 3 of every 16.
inline int int8_channel_at(int position, int wide) {
  if (position >= wide) return position;
  const int lane = position % kInt8MostLanes;
  const int vector = position % kInt8WideChannels / kInt8MostLanes;
  return position / kInt8WideChannels * kInt8WideChannels + lane / 4 * 16 + vector * 4 + lane % 4;
}

// What of a convolution is computed.
enum class Int8Part : uint8_t {
  both,
  weights,  // what Int8Scratch holds of the weights, the bias and the factors
  pixels,   // the rest
};

// What is known of the sums and factors of all channels.
struct Int8Factors {
  bool folds;      // sums contain the bias
  bool below_one;  // no factor is above 1
  int wide;        // of a depthwise convolution: channels that go 64 at once
};

// Of one group, or of all channels of a depthwise convolution.
struct Int8Scratch {
  int32_t* weights;  // [panels][words][vectors of the panel][lanes]; depthwise: [rows][columns]
                     // [words][channels]
  int32_t* start;    // per channel: where sums begin
  int32_t* bias;
  float* scale;
  int32_t* multiplier;  // of fixed point
  int32_t* shift;       // to the right
  float* nudge;         // of fixed point: half a unit of its first rounding
  Int8Factors* factors;
  int32_t* pixels;  // [threads][worker_words]: of a patch, or of a depthwise convolution
  int64_t worker_words;
};

// words: of a channel.
inline void carve_int8_channels(Workspace& own, int64_t channels, int64_t words, Int8Scratch& s) {
  s.weights = own.take<int32_t>(channels * words);
  s.start = own.take<int32_t>(channels);
  s.bias = own.take<int32_t>(channels);
  s.scale = own.take<float>(channels);
  s.multiplier = own.take<int32_t>(channels);
  s.shift = own.take<int32_t>(channels);
  s.nudge = own.take<float>(channels);
  s.factors = own.take<Int8Factors>(1);
}

// What depends on the weights, the bias and the factors alone. unit: numbers of a word.
inline void carve_int8_weights(Workspace& own, const conv_dims& d, int unit, Int8Scratch& s) {
  const bool depthwise = is_int8_depthwise(d);
  const int64_t channels = round_up(depthwise ? d.k : d.k / d.groups, kInt8MostLanes);
  const Int8Patch patch = is_int8_row(d) ? int8_row_patch(d) : int8_patch(d, int8_block_pixels(d));
  const int64_t words =
      depthwise ? int8_depthwise_words(d, unit) : patch.runs * divide_up(patch.length, unit);
  carve_int8_channels(own, channels, words, s);
}

// The same of a row (is_int8_row) of c numbers and k results.
inline void carve_int8_row(Workspace& own, int c, int k, int unit, Int8Scratch& s) {
  carve_int8_channels(own, round_up(k, kInt8MostLanes), divide_up(c, unit), s);
}

inline void carve_int8_pixels(Workspace& own, const conv_dims& d, int threads, Int8Scratch& s) {
  if (is_int8_depthwise(d)) {
    int64_t columns = int8_depthwise_columns(d, int8_depthwise_run(d));
    if (int8_wide_channels(d.c) > 0) {
      columns = std::max(columns, 4 * int8_depthwise_columns(d, int8_wide_run(d)));
    }
    s.worker_words = columns * ((d.r + 1) / 2) * kInt8MostLanes;
    s.pixels = own.take<int32_t>(threads * s.worker_words);
    return;
  }
  if (is_int8_row(d)) {
    s.worker_words = round_up(divide_up(int8_row_patch(d).elements(), 2), kInt8MostLanes);
    s.pixels = own.take<int32_t>(s.worker_words);
    return;
  }
  const int pixels = int8_block_pixels(d);
  s.worker_words = round_up(divide_up(int8_patch(d, pixels).elements(), 2), kInt8MostLanes);
  const int64_t workers = int8_blocks(d, pixels).blocks() <= 1 ? 1 : threads;
  s.pixels = own.take<int32_t>(workers * s.worker_words);
}

}  // namespace thimble::simd
