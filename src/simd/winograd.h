// Convolutions with 3 x 3 windows, stride 1 or 2 and dilation 1, and their gradients, by Winograd's
// minimal filtering. With stride 1, for each pair of channels, 4 x 4 results take 36 products
// instead of 144, and 2 x 2 results take 16 instead of 36. With stride 2, 4 x 4 results take 81
// instead of 144: along each dimension the window's first and last weight are a convolution of
// every other pixel, F(4, 2) with five products instead of eight, and the middle weight takes four.
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

// How tiles are computed: by F(2, 3), F(4, 3), or those of stride 2 and of its adjoint.
enum class WinogradKind { kNone, kTwo, kFour, kStrided, kStridedAdjoint };

// Numbers along each dimension of a tile. It reads `inputs` pixels, beginning `step` pixels after
// those of the tile before. They are transformed to `points` values, the window to `weights`.
// Points from the last one of the weights on take that last weight.
struct WinogradForm {
  int results, inputs, step, points, weights;
};

inline constexpr WinogradForm winograd_form(WinogradKind kind) {
  switch (kind) {
    case WinogradKind::kTwo:
      return {2, 4, 2, 4, 4};
    case WinogradKind::kFour:
      return {4, 6, 4, 6, 6};
    case WinogradKind::kStrided:
      return {4, 9, 8, 9, 6};
    case WinogradKind::kStridedAdjoint:
      return {8, 5, 4, 9, 6};
    case WinogradKind::kNone:
      break;
  }
  return {};
}

// Values of a transformed tile, and of a transformed window.
inline constexpr int winograd_points(WinogradKind kind) {
  return winograd_form(kind).points * winograd_form(kind).points;
}
inline constexpr int winograd_weight_points(WinogradKind kind) {
  return winograd_form(kind).weights * winograd_form(kind).weights;
}

// Along a dimension, the weight that a point takes.
inline constexpr int winograd_weight(const WinogradForm& form, int point) {
  return std::min(point, form.weights - 1);
}

// The transformed weight of a point of a tile.
inline constexpr int winograd_weight_point(WinogradKind kind, int point) {
  const WinogradForm form = winograd_form(kind);
  return form.weights * winograd_weight(form, point / form.points) +
         winograd_weight(form, point % form.points);
}

// Whether no point before takes the same transformed weight.
inline constexpr bool is_first_of_weight(WinogradKind kind, int point) {
  const WinogradForm form = winograd_form(kind);
  return point / form.points < form.weights && point % form.points < form.weights;
}

// Tiles of results; those at the lower and right edge may reach beyond the image.
struct TileGrid {
  WinogradKind kind;
  int rows, columns;  // of an image
  int64_t count;      // of all images
};

inline TileGrid tile_grid(WinogradKind kind, int images, int out_h, int out_w) {
  const int size = std::max(1, winograd_form(kind).results);
  const auto rows = static_cast<int>(divide_up(out_h, size));
  const auto columns = static_cast<int>(divide_up(out_w, size));
  return {kind, rows, columns, static_cast<int64_t>(images) * rows * columns};
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
// neighbouring points. Further cache lines keep the points of a tile out of the same cache set:
// one line, or two where the tiles have 81 points, took the least time.
inline int winograd_pitch(int channels) { return static_cast<int>(round_up(channels, 16)); }
inline int64_t winograd_point_floats(WinogradKind kind, int tiles, int channels) {
  return static_cast<int64_t>(tiles) * winograd_pitch(channels) +
         (winograd_form(kind).points > 6 ? 32 : 16);
}

// Transformed weights of in_channels x columns windows.
inline int64_t winograd_weight_floats(const WinogradSplit& split) {
  return winograd_weight_points(split.grid.kind) *
         winograd_point_floats(split.grid.kind, split.in_channels, split.columns);
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
  const int points = winograd_points(split.grid.kind);
  scratch.weights = workspace.take<float>(split.keeps_weights ? 0 : winograd_weight_floats(split));
  scratch.inputs = workspace.take<float>(
      points * winograd_point_floats(split.grid.kind, split.block_tiles, split.in_channels));
  scratch.products = workspace.take<float>(
      points * winograd_point_floats(split.grid.kind, split.block_tiles, split.out_channels));
  scratch.zeros = workspace.take<float>(split.in_channels);
  return scratch;
}

// Whether tiles of that kind can compute the plan.
inline bool computes(WinogradKind kind, const ConvPlan& plan) {
  const bool strided = kind == WinogradKind::kStrided;
  const bool adjoint = kind == WinogradKind::kStridedAdjoint;
  const int step = strided ? 2 : 1;
  const int out_step = adjoint ? 2 : 1;
  const int taps = adjoint ? 2 : 3;  // along each dimension, in the phases with most of them
  const auto has_taps = [=](const TapRange& range) { return range.last - range.first == taps - 1; };
  // Tiles of the adjoint begin at a pixel of which one tap is part.
  const bool fits = !adjoint || (plan.pad_top % 2 != 0 && plan.pad_left % 2 != 0);
  return fits && plan.groups == 1 && plan.phase_count == out_step * out_step &&
         plan.tap_count == 9 && plan.row_step == step && plan.column_step == step &&
         plan.out_row_step == out_step && plan.out_column_step == out_step &&
         has_taps(plan.tap_rows) && has_taps(plan.tap_columns);
}

// Whether the channels fill a vector: the transforms are of single channels.
inline bool has_winograd_channels(int in_channels, int out_channels) {
  constexpr int kLeast = 16;
  return in_channels >= kLeast && out_channels >= kLeast;
}

// Costs are for each pair of an input and an output channel, in multiply-adds, as measured on
// Zen 4. That of a tile: its products and its transforms, which serve as many other channels as
// given.
inline double winograd_tile_cost(WinogradKind kind, double outputs, double inputs) {
  const bool two = kind == WinogradKind::kTwo;
  const bool four = kind == WinogradKind::kFour;
  const double input = two ? 120.0 : four ? 500.0 : 900.0;
  const double output = two ? 100.0 : four ? 400.0 : 800.0;
  return winograd_points(kind) + input / outputs + output / inputs;
}

// The cost of transforming the weights once.
inline double winograd_weight_cost(WinogradKind kind) {
  return kind == WinogradKind::kTwo ? 130.0 : 240.0;
}

struct WinogradChoice {
  WinogradSplit split;
  double cost;  // of a thread
};

// The split of the least cost whose memory is little besides the images.
inline WinogradChoice choose_winograd(const ConvPlan& plan, WinogradKind kind, int threads) {
  constexpr int64_t kMegabyte = int64_t{1} << 20;
  const int64_t images = int64_t{plan.images} * (int64_t{plan.in_h} * plan.in_w * plan.in_c +
                                                 int64_t{plan.out_h} * plan.out_w * plan.out_c);
  const int64_t share = images * 7 / 4;  // less than half of their bytes
  const int64_t most_bytes = (threads + 1) * kMegabyte / 2 + std::min(share, kMegabyte * 9 / 4);
  WinogradSplit split{};
  split.grid = tile_grid(kind, plan.images, plan.out_h, plan.out_w);
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
            idle * (winograd_tile_cost(kind, split.out_channels, plan.group_in) *
                        static_cast<double>(split.grid.count) +
                    winograd_weight_cost(kind) * static_cast<double>(keeps_weights ? 1 : blocks));
        if (best.cost == 0 || (private_bytes + shared.bytes() <= most_bytes && cost < best.cost)) {
          best = {split, cost};
        }
      }
    }
  }
  return best;
}

// The kind of the least cost(kind), of those of which may_be(kind); none if direct convolution, of
// so many multiply-adds for each pair of channels, is faster.
template <class MayBe, class Cost>
inline WinogradKind best_winograd(double direct, const MayBe& may_be, const Cost& cost) {
  WinogradKind best = WinogradKind::kNone;
  for (const WinogradKind kind : {WinogradKind::kTwo, WinogradKind::kFour, WinogradKind::kStrided,
                                  WinogradKind::kStridedAdjoint}) {
    if (!may_be(kind)) continue;
    const double value = cost(kind);
    if (value < direct) direct = value, best = kind;
  }
  return best;
}

// How Winograd convolution computes the plan; kNone: it does not.
inline WinogradKind winograd_kind(const ConvPlan& plan) {
  const double pixels = static_cast<double>(plan.images) * plan.out_h * plan.out_w;
  if (pixels == 0 || !has_winograd_channels(plan.group_in, plan.group_out)) {
    return WinogradKind::kNone;
  }
  const double taps = static_cast<double>(plan.tap_count) / std::max(1, plan.phase_count);
  return best_winograd(
      taps * pixels, [&](WinogradKind kind) { return computes(kind, plan); },
      [&](WinogradKind kind) { return choose_winograd(plan, kind, 1).cost; });
}

inline WinogradSplit split_winograd(const ConvPlan& plan, int threads) {
  return choose_winograd(plan, winograd_kind(plan), threads).split;
}

}  // namespace thimble::simd
