// Convolutions with 3 x 3 windows, stride 1 and dilation 1, and their gradients, by Winograd's
// minimal filtering. For each pair of channels 4 x 4 results take 36 products instead of 144, and
// 2 x 2 results take 16 instead of 36.
// Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015, F(4 x 4, 3 x
// 3) and F(2 x 2, 3 x 3). How the work is split and what scratch memory it takes; depends on sizes
// alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd/conv_plan.h"
#include "simd/tile.h"
#include "simd/workspace.h"

namespace thimble::simd {

inline constexpr int kWinogradChannels = 64;  // most channels of a block
inline constexpr int kWinogradColumns = 48;   // most output channels whose weights are held at once
inline constexpr int kWinogradSlice = 16;     // input channels whose weights are packed at a time

// Values of a transformed tile of size x size results.
inline constexpr int winograd_points(int size) { return (size + 2) * (size + 2); }

// Tiles of size x size results; those at the lower and right edge may reach beyond the image.
struct TileGrid {
  int size;
  int rows, columns;  // of an image
  int64_t count;      // of all images
};

inline TileGrid tile_grid(int size, int images, int out_h, int out_w) {
  const auto rows = static_cast<int>(divide_up(out_h, size));
  const auto columns = static_cast<int>(divide_up(out_w, size));
  return {size, rows, columns, static_cast<int64_t>(images) * rows * columns};
}

// Splits channels or tiles evenly: 96 channels are 48 + 48, not 64 + 32.
inline int even_block(int64_t count, int most, int multiple) {
  const int64_t blocks = std::max<int64_t>(1, divide_up(count, most));
  return static_cast<int>(round_up(divide_up(count, blocks), multiple));
}

// A task computes the results of block_tiles tiles in out_channels channels. It adds up in_channels
// input channels at a time, so the order of sums depends on the number of input channels alone.
struct WinogradSplit {
  TileGrid grid;
  int block_tiles;
  int in_channels, out_channels;
  int columns;  // of the output channels, those whose weights are held at once
  // Whether the weights of out_channels channels are transformed once for all tiles, into memory
  // that all threads read. Otherwise each task transforms its own.
  bool keeps_weights;
};

// Floats between the transformed values of neighbouring tiles (or channels), and between those of
// neighbouring points. A further cache line keeps the points of a tile out of the same cache set.
inline int winograd_pitch(int channels) { return static_cast<int>(round_up(channels, 16)); }
inline int64_t winograd_point_floats(int tiles, int channels) {
  return static_cast<int64_t>(tiles) * winograd_pitch(channels) + 16;
}

// Transformed weights of in_channels x columns windows.
inline int64_t winograd_weight_floats(const WinogradSplit& split) {
  return winograd_points(split.grid.size) * winograd_point_floats(split.in_channels, split.columns);
}

// Memory of the transformed weights that all threads read: [in block, part of the output channels],
// of as many floats as above; null if there are none.
inline float* carve_winograd_weights(Workspace& workspace, const ConvPlan& plan,
                                     const WinogradSplit& split) {
  if (!split.keeps_weights) return nullptr;
  return workspace.take<float>(divide_up(plan.group_in, split.in_channels) *
                               divide_up(split.out_channels, split.columns) *
                               winograd_weight_floats(split));
}

// Scratch memory of one thread.
struct WinogradScratch {
  float* taps;      // [9, slice, panel width] weights
  float* weights;   // [point, panel, in_channels, panel width] transformed
  float* inputs;    // [point, tile, in_channels] transformed
  float* products;  // [point, tile, out_channels]
  float* zeros;     // stands in for pixels outside the image
};

inline WinogradScratch carve_winograd_scratch(Workspace& workspace, const WinogradSplit& split) {
  WinogradScratch scratch{};
  scratch.taps = workspace.take<float>(int64_t{9} * kWinogradSlice * split.columns);
  const int points = winograd_points(split.grid.size);
  scratch.weights = workspace.take<float>(split.keeps_weights ? 0 : winograd_weight_floats(split));
  scratch.inputs =
      workspace.take<float>(points * winograd_point_floats(split.block_tiles, split.in_channels));
  scratch.products =
      workspace.take<float>(points * winograd_point_floats(split.block_tiles, split.out_channels));
  scratch.zeros = workspace.take<float>(split.in_channels);
  return scratch;
}

// Whether the plan is of a 3 x 3 window without strides, dilation and groups.
inline bool is_winograd_shape(const ConvPlan& plan) {
  const auto is_three = [](const TapRange& taps) { return taps.last - taps.first == 2; };
  return plan.groups == 1 && plan.phase_count == 1 && plan.tap_count == 9 && plan.row_step == 1 &&
         plan.column_step == 1 && plan.out_row_step == 1 && plan.out_column_step == 1 &&
         is_three(plan.tap_rows) && is_three(plan.tap_columns);
}

// Whether the channels fill a vector: the transforms are of single channels.
inline bool has_winograd_channels(int in_channels, int out_channels) {
  constexpr int kLeast = 16;
  return in_channels >= kLeast && out_channels >= kLeast;
}

// Costs are for each pair of an input and an output channel, in multiply-adds, as measured on
// Zen 4. That of a tile: its products and its transforms, which serve as many other channels as
// given.
inline double winograd_tile_cost(int size, double outputs, double inputs) {
  const double input = size == 4 ? 500.0 : 120.0;
  const double output = size == 4 ? 400.0 : 100.0;
  return winograd_points(size) + input / outputs + output / inputs;
}

// The cost of transforming the weights once.
inline double winograd_weight_cost(int size) { return size == 4 ? 240.0 : 130.0; }

struct WinogradChoice {
  WinogradSplit split;
  double cost;  // of a thread
};

// The split of the least cost whose memory is little besides the images.
inline WinogradChoice choose_winograd(const ConvPlan& plan, int size, int threads) {
  constexpr int64_t kMegabyte = int64_t{1} << 20;
  const int64_t images = int64_t{plan.images} * (int64_t{plan.in_h} * plan.in_w * plan.in_c +
                                                 int64_t{plan.out_h} * plan.out_w * plan.out_c);
  const int64_t share = images * 7 / 4;  // less than half of their bytes
  const int64_t most_bytes = (threads + 1) * kMegabyte / 2 + std::min(share, kMegabyte * 9 / 4);
  WinogradSplit split{};
  split.grid = tile_grid(size, plan.images, plan.out_h, plan.out_w);
  split.in_channels = even_block(plan.group_in, kWinogradChannels, 1);
  WinogradChoice best{};
  for (const int most_out : {64, 128, 256}) {
    const int out_channels = even_block(plan.group_out, most_out, 16);
    if (out_channels == split.out_channels) break;
    split.out_channels = out_channels;
    split.columns = even_block(split.out_channels, kWinogradColumns, 16);
    split.block_tiles = 0;
    for (const int most_tiles : {16, 24, 32, 48, 64, 96}) {
      const int block_tiles = even_block(split.grid.count, most_tiles, 8);
      if (block_tiles == split.block_tiles) break;
      split.block_tiles = block_tiles;
      const int64_t blocks = divide_up(split.grid.count, split.block_tiles);
      for (const bool keeps_weights : {false, true}) {
        split.keeps_weights = keeps_weights;
        Workspace memory(nullptr);
        carve_winograd_scratch(memory, split);
        const int64_t private_bytes = threads * memory.bytes();
        Workspace shared(nullptr);
        carve_winograd_weights(shared, plan, split);
        const int64_t tasks =
            keeps_weights ? blocks : blocks * divide_up(plan.group_out, split.out_channels);
        const double idle =
            static_cast<double>(divide_up(tasks, threads) * threads) / static_cast<double>(tasks);
        const double cost =
            idle * (winograd_tile_cost(size, split.out_channels, plan.group_in) *
                        static_cast<double>(split.grid.count) +
                    winograd_weight_cost(size) * static_cast<double>(keeps_weights ? 1 : blocks));
        if (best.cost == 0 || (private_bytes + shared.bytes() <= most_bytes && cost < best.cost)) {
          best = {split, cost};
        }
      }
    }
  }
  return best;
}

// The size of the tiles where the costs are those of cost(size); 0: direct convolution is faster.
template <class Cost>
inline int best_winograd_size(int64_t pixels, const Cost& cost) {
  double least = 9.0 * static_cast<double>(pixels);
  int best = 0;
  for (const int size : {2, 4}) {
    const double value = cost(size);
    if (value < least) least = value, best = size;
  }
  return best;
}

// The size of the tiles by which Winograd convolution computes the plan; 0: it does not.
inline int winograd_size(const ConvPlan& plan) {
  const int64_t pixels = int64_t{plan.images} * plan.out_h * plan.out_w;
  if (!is_winograd_shape(plan) || pixels == 0 ||
      !has_winograd_channels(plan.group_in, plan.group_out)) {
    return 0;
  }
  return best_winograd_size(pixels, [&](int size) { return choose_winograd(plan, size, 1).cost; });
}

inline WinogradSplit split_winograd(const ConvPlan& plan, int threads) {
  return choose_winograd(plan, winograd_size(plan), threads).split;
}

}  // namespace thimble::simd
