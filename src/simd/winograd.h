// Convolutions with 3 x 3 windows, stride 1 and dilation 1, and their gradients, by Winograd's
// minimal filtering: 2 x 2 results take 16 products for each pair of channels instead of 36.
// Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015, F(2 x 2, 3 x
// 3). How the work is split and what scratch memory it takes; depends on sizes alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd/conv_plan.h"
#include "simd/tile.h"
#include "simd/workspace.h"

namespace thimble::simd {

inline constexpr int kWinogradPoints = 16;    // 4 x 4 values of a transformed tile
inline constexpr int kWinogradTiles = 72;     // most tiles of a block
inline constexpr int kWinogradChannels = 64;  // most channels of a block
inline constexpr int kWinogradColumns = 48;   // most output channels whose weights are held at once
inline constexpr int kWinogradSlice = 16;     // input channels whose weights are packed at a time

// Tiles of 2 x 2 results; those at the lower and right edge may reach beyond the image.
struct TileGrid {
  int rows, columns;  // of an image
  int64_t count;      // of all images
};

inline TileGrid tile_grid(int images, int out_h, int out_w) {
  const auto rows = static_cast<int>(divide_up(out_h, 2));
  const auto columns = static_cast<int>(divide_up(out_w, 2));
  return {rows, columns, static_cast<int64_t>(images) * rows * columns};
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
};

inline WinogradSplit split_winograd(const ConvPlan& plan, int threads) {
  constexpr int64_t kWantedTasks = 8;
  constexpr int kLeastTiles = 48;
  // The scratch memory of many threads adds up.
  const int most_tiles = threads > 2 ? kLeastTiles : kWinogradTiles;
  WinogradSplit split{};
  split.grid = tile_grid(plan.images, plan.out_h, plan.out_w);
  split.in_channels = even_block(plan.group_in, kWinogradChannels, 1);
  split.out_channels = even_block(plan.group_out, kWinogradChannels, 16);
  split.columns = even_block(split.out_channels, kWinogradColumns, 16);
  const int64_t others = divide_up(plan.group_out, split.out_channels);
  const int64_t wanted = divide_up(split.grid.count, divide_up(kWantedTasks, others));
  split.block_tiles = even_block(
      split.grid.count, static_cast<int>(std::clamp<int64_t>(wanted, kLeastTiles, most_tiles)),
      kAllTileRows);
  return split;
}

// Floats between the transformed values of neighbouring tiles (or channels), and between those of
// neighbouring points. A further cache line keeps the points of a tile out of the same cache set.
inline int winograd_pitch(int channels) { return static_cast<int>(round_up(channels, 16)); }
inline int64_t winograd_point_floats(int tiles, int channels) {
  return static_cast<int64_t>(tiles) * winograd_pitch(channels) + 16;
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
  scratch.weights = workspace.take<float>(kWinogradPoints *
                                          winograd_point_floats(split.in_channels, split.columns));
  scratch.inputs = workspace.take<float>(
      kWinogradPoints * winograd_point_floats(split.block_tiles, split.in_channels));
  scratch.products = workspace.take<float>(
      kWinogradPoints * winograd_point_floats(split.block_tiles, split.out_channels));
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

// Whether there are enough channels: the transforms of tiles, which they share, take about a
// quarter of the time of their products.
inline bool has_winograd_channels(int in_channels, int out_channels) {
  constexpr int64_t kLeastPairs = 512;
  return in_channels >= 16 && out_channels >= 16 &&
         int64_t{in_channels} * out_channels >= kLeastPairs;
}

// Whether Winograd convolution of such tiles beats the direct one, where `transforms` is how
// often the weights of all channels are transformed: costs for each pair of channels, in
// multiply-adds.
inline bool saves_products(const TileGrid& grid, int64_t pixels, int64_t transforms) {
  constexpr double kTile = 20.5;
  constexpr double kTransform = 130.0;
  return kTile * static_cast<double>(grid.count) + kTransform * static_cast<double>(transforms) <
         9.0 * static_cast<double>(pixels);
}

inline bool prefers_winograd(const ConvPlan& plan) {
  const int64_t pixels = int64_t{plan.images} * plan.out_h * plan.out_w;
  if (!is_winograd_shape(plan) || pixels == 0 ||
      !has_winograd_channels(plan.group_in, plan.group_out)) {
    return false;
  }
  const WinogradSplit split = split_winograd(plan, 1);
  return saves_products(split.grid, pixels, divide_up(split.grid.count, split.block_tiles));
}

}  // namespace thimble::simd
