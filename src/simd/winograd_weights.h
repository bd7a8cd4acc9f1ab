// How the weight gradient of Winograd convolution (winograd.h) is split. Sums depend on the sizes
// of the whole convolution alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd/conv_weights.h"
#include "simd/winograd.h"

namespace thimble::simd {

// A task sums the gradient of in_channels x out_channels windows over the tiles of a partial sum,
// at most block_tiles at a time. Where these are all, it goes on to the next output channels, as
// far as task_channels, with the same transformed input.
struct WinogradWeightSplit {
  TileGrid grid;
  int block_tiles;
  int partials;
  int64_t tiles;  // per partial sum
  int in_channels, out_channels, task_channels;
};

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
  const int points = winograd_points(split.grid.kind);
  scratch.inputs = workspace.take<float>(
      points * winograd_point_floats(split.grid.kind, split.block_tiles, split.in_channels));
  scratch.gradients = workspace.take<float>(
      points * winograd_point_floats(split.grid.kind, split.block_tiles, split.out_channels));
  scratch.sums = workspace.take<float>(
      winograd_weight_points(split.grid.kind) *
      winograd_point_floats(split.grid.kind, split.out_channels, split.in_channels));
  scratch.zeros = workspace.take<float>(std::max(split.in_channels, split.out_channels));
  return scratch;
}

// As many partial sums as the direct algorithm has, but few enough to keep their cost small, and no
// more than give threads enough tasks beside those of the channels. Each sum has tiles.
inline int winograd_partials(const conv_dims& d, int64_t tiles) {
  constexpr int64_t kWantedTasks = 16;
  const int64_t blocks = divide_up(whole_group_in(d), 64) * divide_up(d.k, 32);
  const int64_t most =
      std::min<int64_t>(split_weights(d).partials, divide_up(kWantedTasks, blocks));
  return static_cast<int>(std::clamp<int64_t>(tiles / 64, 1, most));
}

// Output channels of a task.
inline int winograd_task_channels(const conv_dims& d, const WinogradWeightSplit& split,
                                  int threads) {
  if (split.tiles > split.block_tiles) return split.out_channels;
  const int64_t blocks = divide_up(part_channels(d), split.out_channels);
  const int64_t tasks = divide_up(d.c, split.in_channels) * split.partials;
  const int64_t parts = threads > 1 ? std::min(blocks, divide_up(4 * threads, tasks)) : 1;
  return split.out_channels * static_cast<int>(divide_up(blocks, parts));
}

// The blocks of channels that repeat the fewest transforms in little memory. No sum depends on
// them, as the tiles of a block and of a partial sum depend on the sizes of the whole convolution
// alone.
inline WinogradWeightSplit split_winograd_weights(const conv_dims& d, WinogradKind kind,
                                                  int threads) {
  constexpr int64_t kMegabyte = int64_t{1} << 20;
  WinogradWeightSplit split{};
  split.grid = tile_grid(kind, d.n, d.p, d.q);
  split.partials = winograd_partials(d, split.grid.count);
  split.tiles = divide_up(split.grid.count, split.partials);
  // Where more channels share the transforms, longer sums are worth more memory.
  const bool strided = kind == WinogradKind::kStrided;  // more values for each tile
  split.block_tiles = !strided && whole_group_in(d) >= 128 && split.tiles >= 64 ? 64 : 32;
  const int64_t images = int64_t{d.n} * (int64_t{d.h} * d.w * d.c + int64_t{d.p} * d.q * d.k);
  int64_t share = std::min(images * 7 / 4, kMegabyte * 2);
  if (threads > 2) {
    // The scratch of many threads adds up: beside small tensors it would raise the peak of a step.
    const int64_t weights = int64_t{9} * d.k * whole_group_in(d);
    const int64_t sixth = (images + weights) * int64_t{sizeof(float)} / 6;
    share = std::min(share, std::max(kMegabyte, sixth));
  }
  const int64_t most_bytes = kMegabyte + share;
  const int64_t sums = (split.partials - 1) * part_weight_count(d) * int64_t{sizeof(float)};
  WinogradWeightSplit best{};
  double least = 0;
  for (const int most_in : {32, 48, 64, 96, 128}) {
    for (const int most_out : {16, 32, 64, 96, 128}) {
      split.in_channels = even_block(d.c, most_in, 16);
      split.out_channels = std::min(most_out, part_channels(d));
      split.task_channels = winograd_task_channels(d, split, threads);
      Workspace memory(nullptr);
      carve_winograd_weight_scratch(memory, split);
      const double repeated = 1.0 / split.task_channels + 1.0 / split.in_channels;
      const bool fits = threads * memory.bytes() + sums <= most_bytes;
      if (least == 0 || (fits && repeated < least)) {
        best = split;
        least = repeated;
      }
    }
  }
  return best;
}

// Multiply-adds that take as long as the gradient, for each pair of an input and an output channel.
inline double winograd_weights_cost(const conv_dims& d, WinogradKind kind) {
  const WinogradWeightSplit split = split_winograd_weights(d, kind, 1);
  // To transform the sums of a partial sum.
  const double gradient = kind == WinogradKind::kTwo ? 170.0 : 350.0;
  const int inputs = std::min(kWinogradChannels, static_cast<int>(whole_group_in(d)));
  const int outputs = std::min(kWinogradChannels, d.k);
  return winograd_tile_cost(kind, outputs, inputs) * static_cast<double>(split.grid.count) +
         gradient * split.partials;
}

// How Winograd convolution computes the gradient; kNone: it does not.
inline WinogradKind winograd_weights_kind(const conv_dims& d) {
  const int stride = d.stride_h;
  if (d.groups != 1 || d.r != 3 || d.s != 3 || stride > 2 || d.stride_w != stride ||
      d.dilation_h != 1 || d.dilation_w != 1 ||
      !has_winograd_channels(static_cast<int>(whole_group_in(d)), d.k)) {
    return WinogradKind::kNone;
  }
  const auto may_be = [=](WinogradKind kind) {
    return kind != WinogradKind::kStridedAdjoint &&
           (kind == WinogradKind::kStrided) == (stride == 2);
  };
  return best_winograd(9.0 * d.n * d.p * d.q, may_be,
                       [&](WinogradKind kind) { return winograd_weights_cost(d, kind); });
}

}  // namespace thimble::simd
