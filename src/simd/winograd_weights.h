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

inline WinogradWeightSplit split_winograd_weights(const conv_dims& d, int size, int threads) {
  WinogradWeightSplit split{};
  split.grid = tile_grid(size, d.n, d.p, d.q);
  // As many as the other algorithm has, but few enough to keep their cost small.
  split.partials = static_cast<int>(std::clamp<int64_t>(split.grid.count / (2 * kWinogradSumTiles),
                                                        1, split_weights(d).partials));
  split.tiles = divide_up(split.grid.count, split.partials);
  // The scratch memory of several threads adds up, and they need more tasks. No sum depends on it.
  split.in_channels = even_block(d.c, threads > 2 ? 48 : kWinogradChannels, 16);
  split.out_channels = std::min(threads > 1 ? 32 : kWinogradChannels, part_channels(d));
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
  const int points = winograd_points(split.grid.size);
  scratch.inputs =
      workspace.take<float>(points * winograd_point_floats(kWinogradSumTiles, split.in_channels));
  scratch.gradients =
      workspace.take<float>(points * winograd_point_floats(kWinogradSumTiles, split.out_channels));
  scratch.sums =
      workspace.take<float>(points * winograd_point_floats(split.out_channels, split.in_channels));
  scratch.zeros = workspace.take<float>(kWinogradChannels);
  return scratch;
}

// The size of the tiles by which Winograd convolution computes the gradient; 0: it does not.
inline int winograd_weights_size(const conv_dims& d) {
  if (d.groups != 1 || d.r != 3 || d.s != 3 || d.stride_h != 1 || d.stride_w != 1 ||
      d.dilation_h != 1 || d.dilation_w != 1 ||
      !has_winograd_channels(static_cast<int>(whole_group_in(d)), d.k)) {
    return 0;
  }
  return best_winograd_size(int64_t{d.n} * d.p * d.q, [&](int size) {
    const WinogradWeightSplit split = split_winograd_weights(d, size, 1);
    const double gradient = size == 4 ? 350.0 : 170.0;  // to transform the sums of a partial sum
    const int inputs = std::min(kWinogradChannels, static_cast<int>(whole_group_in(d)));
    const int outputs = std::min(kWinogradChannels, d.k);
    return winograd_tile_cost(size, outputs, inputs) * static_cast<double>(split.grid.count) +
           gradient * split.partials;
  });
}

}  // namespace thimble::simd
