// How the weight gradient of Winograd convolution (winograd.h) is split. Sums depend on the sizes
// of the whole convolution alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd/conv_weights.h"
#include "simd/winograd.h"

namespace thimble::simd {

inline constexpr int kWinogradSumTiles = 32;  // whose products are added one after another

// A task sums the gradient of in_channels x out_channels windows over the tiles of a partial sum,
// at most kWinogradSumTiles at a time.
struct WinogradWeightSplit {
  TileGrid grid;
  int partials;
  int64_t tiles;  // per partial sum
  int in_channels, out_channels;
};

inline WinogradWeightSplit split_winograd_weights(const conv_dims& d, int threads) {
  WinogradWeightSplit split{};
  split.grid = tile_grid(d.n, d.p, d.q);
  // As many as the other algorithm has, but few enough to keep their cost small.
  split.partials = static_cast<int>(std::clamp<int64_t>(split.grid.count / (2 * kWinogradSumTiles),
                                                        1, split_weights(d).partials));
  split.tiles = divide_up(split.grid.count, split.partials);
  split.in_channels = even_block(d.c, kWinogradChannels, 16);
  // The scratch memory of several threads adds up, and they need more tasks. No sum depends on it.
  const int most = threads > 1 ? kWinogradChannels / 2 : kWinogradChannels;
  split.out_channels = std::min(most, part_channels(d));
  return split;
}

// Scratch memory of one thread.
struct WinogradWeightScratch {
  float* inputs;     // [point, tile, in_channels] transformed
  float* gradients;  // [point, tile, out_channels] transformed
  float* sums;       // [point, out_channels, in_channels]
  float* zeros;      // stands in for pixels outside the image
};

inline WinogradWeightScratch carve_winograd_weight_scratch(Workspace& workspace,
                                                           const WinogradWeightSplit& split) {
  WinogradWeightScratch scratch{};
  scratch.inputs = workspace.take<float>(
      kWinogradPoints * winograd_point_floats(kWinogradSumTiles, split.in_channels));
  scratch.gradients = workspace.take<float>(
      kWinogradPoints * winograd_point_floats(kWinogradSumTiles, split.out_channels));
  scratch.sums = workspace.take<float>(
      kWinogradPoints * winograd_point_floats(split.out_channels, split.in_channels));
  scratch.zeros = workspace.take<float>(kWinogradChannels);
  return scratch;
}

inline bool prefers_winograd_weights(const conv_dims& d) {
  if (d.groups != 1 || d.r != 3 || d.s != 3 || d.stride_h != 1 || d.stride_w != 1 ||
      d.dilation_h != 1 || d.dilation_w != 1 ||
      !has_winograd_channels(static_cast<int>(whole_group_in(d)), d.k)) {
    return false;
  }
  const WinogradWeightSplit split = split_winograd_weights(d, 1);
  return saves_products(split.grid, int64_t{d.n} * d.p * d.q, split.partials);
}

}  // namespace thimble::simd
