// Winograd convolution; see winograd.h. A tile's results are A^T ((G w G^T) * (B^T x
// B)) A with the element-wise product *, summed over input channels by one matrix product for each
// point. Included once per vector target.

#if defined(THIMBLE_SIMD_WINOGRAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_WINOGRAD_INL_H_
#undef THIMBLE_SIMD_WINOGRAD_INL_H_
#else
#define THIMBLE_SIMD_WINOGRAD_INL_H_
#endif

#include <hwy/cache_control.h>

#include <algorithm>

#include "parallel/thread_pool.h"
#include "simd/pack-inl.h"
#include "simd/winograd_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

struct WinogradJob {
  const ConvPlan& plan;
  const WinogradSplit& split;
  float* y;
  const float* x;
  ConvWeights w;
  const float* bias;  // of all output channels, or null
  int64_t first_tile;
  int tiles;
  int column, columns;  // output channels
  float* kept;          // transformed weights of these channels, or null; see WinogradSplit
};

// Some of the task's output channels, whose weights are held at once.
struct WinogradPart {
  int column, columns;  // counted within the task
  Panels panels;
};

// Packs the weights of one tap: to[i * width + o] is that of input channel i and output channel o;
// columns from `columns` on are zero. Where the weights of neighbouring output channels are far
// from each other, those of the next slice are fetched meanwhile.
inline void pack_tap(const ConvPlan& plan, const ConvWeights& w, int channels, int columns,
                     float* to, int width) {
  constexpr int kRun = 8;    // rows that do not displace each other from the cache
  constexpr int kLine = 16;  // floats
  if (w.i8 != nullptr) {
    pack_rows(to, width, w.i8, plan.weight_in_step, channels, columns);
  } else if (plan.weight_out_step == 1) {
    pack_rows(to, width, w.f32, plan.weight_in_step, channels, columns);
  } else {
    for (int o = 0; o < columns; o += kRun) {
      const float* const from = w.f32 + o * plan.weight_out_step;
      const int count = std::min(kRun, columns - o);
      for (int i = 0; i < count; ++i) hwy::Prefetch(from + i * plan.weight_out_step + kLine);
      transpose_copy(to + o, width, from, plan.weight_out_step, count, channels);
    }
    pad_columns(to, width, channels, columns);
  }
}

// Where the weights of tap t begin: taps in the order of the pixels that the results read.
inline ptrdiff_t winograd_tap(const ConvPlan& plan, int t) {
  const bool adjoint = plan.weight_out_step == 1;
  return adjoint ? (8 - t) * static_cast<ptrdiff_t>(plan.group_out)
                 : t * static_cast<ptrdiff_t>(plan.group_in);
}

// taps: that of window place t, input channel i and output channel o is taps[t * tap_step + i *
// in_step + o]. to: the first channel of a panel, [point, panel, in_channels, width].
template <WinogradKind kKind>
inline void transform_taps(const float* HWY_RESTRICT taps, ptrdiff_t tap_step, ptrdiff_t in_step,
                           int channels, int width, float* HWY_RESTRICT to,
                           ptrdiff_t point_floats) {
  constexpr int kPoints = winograd_form(kKind).weights;
  const F32 d;
  for (int i = 0; i < channels; ++i, taps += in_step, to += width) {
    for (int o = 0; o < width; o += lanes()) {
      transform_square<3, kPoints>(
          [=](int r, int s) HWY_ATTR { return hn::LoadU(d, taps + (3 * r + s) * tap_step + o); },
          Winograd<kKind>::weight,
          [=](int r, int s, Vec v)
              HWY_ATTR { hn::StoreU(v, d, to + (kPoints * r + s) * point_floats + o); });
    }
  }
}

// Packs and transforms the weights of a slice of `count` input channels, the first of which is
// `first + slice`, to its place among those of the `channels` input channels from `first` on. taps:
// scratch memory.
template <WinogradKind kKind>
inline void winograd_weights(const WinogradJob& job, const WinogradPart& part, int first,
                             int channels, int slice, float* taps, float* weights) {
  const ConvPlan& plan = job.plan;
  const int width = part.panels.width;
  const int count = std::min(kWinogradSlice, channels - slice);
  const ptrdiff_t point_floats =
      winograd_point_floats(kKind, job.split.in_channels, job.split.columns);
  for (int panel = 0; panel < part.panels.count; ++panel) {
    const int column = panel * width;
    const int columns = std::min(width, part.columns - column);
    float* const to = weights + (static_cast<ptrdiff_t>(panel) * channels + slice) * width;
    const ptrdiff_t from = (first + slice) * plan.weight_in_step +
                           (job.column + part.column + column) * plan.weight_out_step;
    if (job.w.f32 != nullptr && plan.weight_out_step == 1 && columns == width) {
      const ptrdiff_t first_tap = winograd_tap(plan, 0);
      transform_taps<kKind>(job.w.f32 + first_tap + from, winograd_tap(plan, 1) - first_tap,
                            plan.weight_in_step, count, width, to, point_floats);
      continue;
    }
    for (int t = 0; t < 9; ++t) {
      pack_tap(plan, job.w.from(winograd_tap(plan, t) + from), count, columns,
               taps + t * kWinogradSlice * width, width);
    }
    transform_taps<kKind>(taps, kWinogradSlice * width, width, count, width, to, point_floats);
  }
}

inline WinogradPart winograd_part(const WinogradJob& job, int index) {
  const int column = index * job.split.columns;
  const int columns = std::min(job.split.columns, job.columns - column);
  return {column, columns, split_columns(columns)};
}

// The kept weights of one part and of the in_channels input channels from `first` on.
inline float* kept_weights(const WinogradJob& job, int part, int first) {
  const int64_t block =
      first / job.split.in_channels * divide_up(job.split.out_channels, job.split.columns) + part;
  return job.kept + block * winograd_weight_floats(job.split);
}

// Transforms all weights of the job's output channels.
template <WinogradKind kKind>
inline void keep_winograd_weights(const WinogradJob& job, char* scratch_base, int64_t scratch_bytes,
                                  parallel::ThreadPool& pool) {
  const WinogradSplit& split = job.split;
  const int64_t parts = divide_up(job.columns, split.columns);
  const int64_t slices = divide_up(split.in_channels, kWinogradSlice);
  const int64_t blocks = divide_up(job.plan.group_in, split.in_channels);
  pool.run_with_worker(parts * slices * blocks, [&](int64_t task, int worker) {
    Workspace own(scratch_base + worker * scratch_bytes);
    const int part = static_cast<int>(task % parts);
    const int slice = static_cast<int>(task / parts % slices) * kWinogradSlice;
    const int first = static_cast<int>(task / parts / slices) * split.in_channels;
    const int channels = std::min(split.in_channels, job.plan.group_in - first);
    if (slice >= channels) return;
    winograd_weights<kKind>(job, winograd_part(job, part), first, channels, slice,
                            carve_winograd_scratch(own, split).taps,
                            kept_weights(job, part, first));
  });
}

// The weights of a part and of `channels` input channels from `first` on.
inline Ahead ahead_of_weights(const WinogradJob& job, const WinogradPart& part, int first,
                              int channels) {
  const ConvPlan& plan = job.plan;
  if (job.kept != nullptr || job.w.f32 == nullptr) return {};
  const bool adjoint = plan.weight_out_step == 1;
  const int rows = adjoint ? channels : part.columns;
  const int columns = adjoint ? part.columns : channels;
  return {
      job.w.f32 + first * plan.weight_in_step + (job.column + part.column) * plan.weight_out_step,
      int64_t{9} * rows, adjoint ? plan.group_out : plan.group_in,
      static_cast<int>(divide_up(columns, 16))};
}

// What the task, or the one after it, reads or writes after the products of a part and of the input
// channels from `first` on.
struct WinogradAhead {
  Ahead one, other;
};

inline WinogradAhead winograd_ahead(const WinogradJob& job, const TiledImage& image, int index,
                                    int first) {
  const ConvPlan& plan = job.plan;
  const WinogradSplit& split = job.split;
  const int next_first = first + split.in_channels;
  const int next_channels = std::min(split.in_channels, plan.group_in - next_first);
  if ((index + 1) * split.columns < job.columns) {
    const int channels = std::min(split.in_channels, plan.group_in - first);
    return {ahead_of_weights(job, winograd_part(job, index + 1), first, channels), {}};
  }
  if (next_channels > 0) {
    return {
        ahead_of_weights(job, winograd_part(job, 0), next_first, next_channels),
        ahead_of_tiles(image, split.grid, job.first_tile, job.tiles, next_first, next_channels)};
  }
  const TiledImage results{job.y, plan.out_h, plan.out_w, plan.out_c, 0, 0};
  return {ahead_of_tiles(image, split.grid, job.first_tile + job.tiles, job.tiles, 0,
                         split.in_channels),
          ahead_of_tiles(results, split.grid, job.first_tile, job.tiles, job.column, job.columns)};
}

// Adds the products of `channels` input channels at every point; `resume`: to those before.
// Meanwhile fetches what is read next.
template <WinogradKind kKind>
inline void winograd_products(const WinogradJob& job, const WinogradPart& part, int channels,
                              bool resume, const float* weights, const WinogradScratch& scratch,
                              const WinogradAhead& ahead) {
  const WinogradSplit& split = job.split;
  const int in_pitch = winograd_pitch(split.in_channels);
  const int out_pitch = winograd_pitch(split.out_channels);
  const int width = part.panels.width;
  const int rows = tile_rows(part.panels.vectors);
  const float* row_pointers[kMostTileRows];
  float* out[kMostTileRows];
  TileJob tile{};
  tile.a = row_pointers;
  tile.a_step = 1;
  tile.b_pitch = width;
  tile.segments = 1;
  tile.depth = channels;
  tile.out = out;
  tile.columns = width;
  tile.end.add_previous = resume;
  const int64_t calls = winograd_points(kKind) * part.panels.count * divide_up(job.tiles, rows);
  Fetch fetch(ahead.one, ahead.other, calls);
  for (int point = 0; point < winograd_points(kKind); ++point) {
    tile.b = weights + winograd_weight_point(kKind, point) *
                           winograd_point_floats(kKind, split.in_channels, split.columns);
    const float* const inputs =
        scratch.inputs + point * winograd_point_floats(kKind, split.block_tiles, split.in_channels);
    float* const products =
        scratch.products +
        point * winograd_point_floats(kKind, split.block_tiles, split.out_channels) + part.column;
    for (int panel = 0; panel < part.panels.count; ++panel) {
      for (int row = 0; row < job.tiles; row += rows) {
        fetch.next();
        tile.rows = std::min(rows, job.tiles - row);
        for (int i = 0; i < rows; ++i) {
          const int at = row + std::min(i, tile.rows - 1);  // extra rows repeat the last one
          row_pointers[i] = inputs + at * in_pitch;
          out[i] = products + at * out_pitch + panel * width;
        }
        tile_function(tile.rows, part.panels.vectors)(tile);
      }
      tile.b += static_cast<ptrdiff_t>(channels) * width;
    }
  }
}

// Transforms the products of one tile back, and stores its results where `pixels` is not null.
template <WinogradKind kKind>
HWY_INLINE void finish_tile(const float* HWY_RESTRICT products, ptrdiff_t point_floats,
                            float* const* pixels, int columns, const Epilogue& end) {
  constexpr int kPoints = winograd_form(kKind).points;
  constexpr int kResults = winograd_form(kKind).results;
  const F32 d;
  for (int column = 0; column < columns; column += lanes()) {
    transform_square<kPoints, kResults>(
        [=](int r, int s)
            HWY_ATTR { return hn::LoadU(d, products + (kPoints * r + s) * point_floats + column); },
        Winograd<kKind>::result,
        [&](int r, int s, Vec v) HWY_ATTR {
          float* const to = pixels[kResults * r + s];
          if (to != nullptr) finish_vector(v, to + column, columns - column, column, end);
        });
  }
}

template <WinogradKind kKind>
inline void winograd_results(const WinogradJob& job, const WinogradScratch& scratch) {
  constexpr int kResults = winograd_form(kKind).results;
  const ConvPlan& plan = job.plan;
  Epilogue end;
  end.bias = job.bias != nullptr ? job.bias + job.column : nullptr;
  end.add_previous = plan.add_previous;
  end.activation = plan.activation;
  TilePlace at = tile_place(job.split.grid, job.first_tile);
  for (int t = 0; t < job.tiles; ++t) {
    float* pixels[kResults * kResults];
    for (int i = 0; i < kResults * kResults; ++i) {
      const int row = kResults * at.row + i / kResults;
      const int column = kResults * at.column + i % kResults;
      const int64_t pixel = (at.image * plan.out_h + row) * plan.out_w + column;
      const bool inside = row < plan.out_h && column < plan.out_w;
      pixels[i] = inside ? job.y + pixel * plan.out_c + job.column : nullptr;
    }
    finish_tile<kKind>(scratch.products + t * winograd_pitch(job.split.out_channels),
                       winograd_point_floats(kKind, job.split.block_tiles, job.split.out_channels),
                       pixels, job.columns, end);
    advance(job.split.grid, at);
  }
}

template <WinogradKind kKind>
inline void run_winograd(const WinogradJob& job, const WinogradScratch& scratch) {
  const ConvPlan& plan = job.plan;
  const TiledImage image{job.x,     plan.in_h,           plan.in_w,
                         plan.in_c, plan.tap_rows.first, plan.tap_columns.first};
  std::fill_n(scratch.zeros, job.split.in_channels, 0.0F);
  for (int first = 0; first < plan.group_in; first += job.split.in_channels) {
    const int channels = std::min(job.split.in_channels, plan.group_in - first);
    transform_tiles<kKind>(
        image, job.split.grid, job.first_tile, job.tiles, first, channels, scratch.zeros,
        scratch.inputs, winograd_pitch(job.split.in_channels),
        winograd_point_floats(kKind, job.split.block_tiles, job.split.in_channels));
    for (int index = 0; index * job.split.columns < job.columns; ++index) {
      const WinogradPart part = winograd_part(job, index);
      float* const weights =
          job.kept != nullptr ? kept_weights(job, index, first) : scratch.weights;
      for (int slice = 0; job.kept == nullptr && slice < channels; slice += kWinogradSlice) {
        winograd_weights<kKind>(job, part, first, channels, slice, scratch.taps, weights);
      }
      winograd_products<kKind>(job, part, channels, first > 0, weights, scratch,
                               winograd_ahead(job, image, index, first));
    }
  }
  winograd_results<kKind>(job, scratch);
}

// Runs the tasks of output channels [column, column + columns) and all tiles.
template <WinogradKind kKind>
inline void run_winograd_tasks(WinogradJob job, char* scratch_base, int64_t scratch_bytes,
                               parallel::ThreadPool& pool) {
  const WinogradSplit& split = job.split;
  if (job.kept != nullptr) keep_winograd_weights<kKind>(job, scratch_base, scratch_bytes, pool);
  const int64_t out_blocks = divide_up(job.columns, split.out_channels);
  pool.run_with_worker(
      divide_up(split.grid.count, split.block_tiles) * out_blocks, [&](int64_t task, int worker) {
        Workspace own(scratch_base + worker * scratch_bytes);
        WinogradJob one = job;
        one.first_tile = task / out_blocks * split.block_tiles;
        one.tiles = static_cast<int>(
            std::min<int64_t>(split.block_tiles, split.grid.count - one.first_tile));
        const int column = static_cast<int>(task % out_blocks) * split.out_channels;
        one.column += column;
        one.columns = std::min(split.out_channels, job.columns - column);
        run_winograd<kKind>(one, carve_winograd_scratch(own, split));
      });
}

// y, x, w, bias: see conv(); workspace: that of carve_winograd_weights() and, from base +
// workspace.used() on, the bytes of carve_winograd_scratch() per thread.
inline void conv_winograd(const ConvPlan& plan, float* y, const float* x, const ConvWeights& w,
                          const float* bias, Workspace& workspace, char* base,
                          parallel::ThreadPool& pool) {
  const WinogradSplit split = split_winograd(plan, pool.threads());
  Workspace counter(nullptr);
  carve_winograd_scratch(counter, split);
  WinogradJob job{plan, split, y, x, w, bias, 0, 0, 0, plan.group_out, nullptr};
  const int step = split.keeps_weights ? split.out_channels : plan.group_out;
  if (split.keeps_weights) job.kept = carve_winograd_weights(workspace, plan, split);
  for (; job.column < plan.group_out; job.column += step) {
    job.columns = std::min(step, plan.group_out - job.column);
    char* const scratch = base + workspace.used();
    switch (split.grid.kind) {
      case WinogradKind::kTwo:
        run_winograd_tasks<WinogradKind::kTwo>(job, scratch, counter.bytes(), pool);
        break;
      case WinogradKind::kFour:
        run_winograd_tasks<WinogradKind::kFour>(job, scratch, counter.bytes(), pool);
        break;
      case WinogradKind::kStrided:
        run_winograd_tasks<WinogradKind::kStrided>(job, scratch, counter.bytes(), pool);
        break;
      case WinogradKind::kStridedAdjoint:
        run_winograd_tasks<WinogradKind::kStridedAdjoint>(job, scratch, counter.bytes(), pool);
        break;
      case WinogradKind::kNone:
        break;
    }
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
