// Winograd convolution; see winograd.h. A tile's results are A^T ((G w G^T) * (B^T x
// B)) A with the element-wise product *, summed over input channels by one matrix product for each
// of the 16 points. Included once per vector target.

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
  const float* bias;  // of the first output channel of the task, or null
  int64_t first_tile;
  int tiles;
  int column, columns;  // output channels
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

// G applied to three vectors: a, (a + b + c) / 2, (a - b + c) / 2, c.
HWY_INLINE void transform_weight(const Vec (&from)[3], Vec (&to)[4]) {
  const Vec half = hn::Set(F32(), 0.5F);
  const Vec outer = hn::Add(from[0], from[2]);
  to[0] = from[0];
  to[1] = hn::Mul(half, hn::Add(outer, from[1]));
  to[2] = hn::Mul(half, hn::Sub(outer, from[1]));
  to[3] = from[2];
}

// taps: [9, slice, width], to: the first channel of a panel, [point, panel, in_channels, width].
inline void transform_taps(const float* HWY_RESTRICT taps, int channels, int width,
                           float* HWY_RESTRICT to, ptrdiff_t point_floats) {
  const F32 d;
  const ptrdiff_t tap_floats = kWinogradSlice * width;
  for (int i = 0; i < channels * width; i += lanes()) {
    Vec rows[4][3];
    THIMBLE_UNROLL
    for (int s = 0; s < 3; ++s) {
      Vec column[3];
      Vec transformed[4];
      THIMBLE_UNROLL
      for (int r = 0; r < 3; ++r) column[r] = hn::LoadU(d, taps + (3 * r + s) * tap_floats + i);
      transform_weight(column, transformed);
      THIMBLE_UNROLL
      for (int r = 0; r < 4; ++r) rows[r][s] = transformed[r];
    }
    THIMBLE_UNROLL
    for (int r = 0; r < 4; ++r) {
      Vec transformed[4];
      transform_weight(rows[r], transformed);
      THIMBLE_UNROLL
      for (int s = 0; s < 4; ++s) {
        hn::StoreU(transformed[s], d, to + (4 * r + s) * point_floats + i);
      }
    }
  }
}

// Packs and transforms the weights of input channels [first, first + channels).
inline void winograd_weights(const WinogradJob& job, const WinogradPart& part, int first,
                             int channels, const WinogradScratch& scratch) {
  const ConvPlan& plan = job.plan;
  const int width = part.panels.width;
  const ptrdiff_t point_floats = winograd_point_floats(job.split.in_channels, job.split.columns);
  for (int panel = 0; panel < part.panels.count; ++panel) {
    const int column = panel * width;
    const int columns = std::min(width, part.columns - column);
    float* const to = scratch.weights + static_cast<ptrdiff_t>(panel) * channels * width;
    for (int c = 0; c < channels; c += kWinogradSlice) {
      const int slice = std::min(kWinogradSlice, channels - c);
      for (int t = 0; t < 9; ++t) {
        const ConvTap& tap = plan.phases[0].taps[t];
        const int place = 3 * (tap.row - plan.tap_rows.first) + tap.column - plan.tap_columns.first;
        pack_tap(plan,
                 job.w.from(tap.weight + (first + c) * plan.weight_in_step +
                            (job.column + part.column + column) * plan.weight_out_step),
                 slice, columns, scratch.taps + place * kWinogradSlice * width, width);
      }
      transform_taps(scratch.taps, slice, width, to + c * width, point_floats);
    }
  }
}

// Adds the products of `channels` input channels at every point; `resume`: to those before.
inline void winograd_products(const WinogradJob& job, const WinogradPart& part, int channels,
                              bool resume, const WinogradScratch& scratch) {
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
  for (int point = 0; point < kWinogradPoints; ++point) {
    tile.b = scratch.weights + point * winograd_point_floats(split.in_channels, split.columns);
    const float* const inputs =
        scratch.inputs + point * winograd_point_floats(split.block_tiles, split.in_channels);
    float* const products = scratch.products +
                            point * winograd_point_floats(split.block_tiles, split.out_channels) +
                            part.column;
    for (int panel = 0; panel < part.panels.count; ++panel) {
      for (int row = 0; row < job.tiles; row += rows) {
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

// A^T applied to four vectors: a + b + c, b - c - d.
HWY_INLINE void transform_result(const Vec (&from)[4], Vec (&to)[2]) {
  to[0] = hn::Add(hn::Add(from[0], from[1]), from[2]);
  to[1] = hn::Sub(hn::Sub(from[1], from[2]), from[3]);
}

// Transforms the products of one tile back, and stores its results where `pixels` is not null.
HWY_INLINE void finish_tile(const float* HWY_RESTRICT products, ptrdiff_t point_floats,
                            float* const* pixels, int columns, const Epilogue& end) {
  const F32 d;
  for (int column = 0; column < columns; column += lanes()) {
    Vec rows[2][4];
    THIMBLE_UNROLL
    for (int s = 0; s < 4; ++s) {
      Vec values[4];
      Vec transformed[2];
      THIMBLE_UNROLL
      for (int r = 0; r < 4; ++r) {
        values[r] = hn::LoadU(d, products + (4 * r + s) * point_floats + column);
      }
      transform_result(values, transformed);
      rows[0][s] = transformed[0], rows[1][s] = transformed[1];
    }
    THIMBLE_UNROLL
    for (int r = 0; r < 2; ++r) {
      Vec results[2];
      transform_result(rows[r], results);
      THIMBLE_UNROLL
      for (int s = 0; s < 2; ++s) {
        float* const to = pixels[2 * r + s];
        if (to != nullptr) finish_vector(results[s], to + column, columns - column, column, end);
      }
    }
  }
}

inline void winograd_results(const WinogradJob& job, const WinogradScratch& scratch) {
  const ConvPlan& plan = job.plan;
  Epilogue end;
  end.bias = job.bias;
  end.add_previous = plan.add_previous;
  end.activation = plan.activation;
  TilePlace at = tile_place(job.split.grid, job.first_tile);
  for (int t = 0; t < job.tiles; ++t) {
    float* pixels[4];
    for (int i = 0; i < 4; ++i) {
      const int row = 2 * at.row + i / 2;
      const int column = 2 * at.column + i % 2;
      const int64_t pixel = (at.image * plan.out_h + row) * plan.out_w + column;
      const bool inside = row < plan.out_h && column < plan.out_w;
      pixels[i] = inside ? job.y + pixel * plan.out_c + job.column : nullptr;
    }
    finish_tile(scratch.products + t * winograd_pitch(job.split.out_channels),
                winograd_point_floats(job.split.block_tiles, job.split.out_channels), pixels,
                job.columns, end);
    advance(job.split.grid, at);
  }
}

inline void run_winograd(const WinogradJob& job, const WinogradScratch& scratch) {
  const ConvPlan& plan = job.plan;
  const TiledImage image{job.x,     plan.in_h,           plan.in_w,
                         plan.in_c, plan.tap_rows.first, plan.tap_columns.first};
  std::fill_n(scratch.zeros, job.split.in_channels, 0.0F);
  for (int first = 0; first < plan.group_in; first += job.split.in_channels) {
    const int channels = std::min(job.split.in_channels, plan.group_in - first);
    transform_tiles(image, job.split.grid, job.first_tile, job.tiles, first, channels,
                    scratch.zeros, scratch.inputs, winograd_pitch(job.split.in_channels),
                    winograd_point_floats(job.split.block_tiles, job.split.in_channels));
    for (int column = 0; column < job.columns; column += job.split.columns) {
      const int columns = std::min(job.split.columns, job.columns - column);
      const WinogradPart part{column, columns, split_columns(columns)};
      winograd_weights(job, part, first, channels, scratch);
      winograd_products(job, part, channels, first > 0, scratch);
    }
  }
  winograd_results(job, scratch);
}

// y, x, w, bias: see conv(); scratch: the bytes of carve_winograd_scratch() per thread.
inline void conv_winograd(const ConvPlan& plan, float* y, const float* x, const ConvWeights& w,
                          const float* bias, char* scratch_base, parallel::ThreadPool& pool) {
  const WinogradSplit split = split_winograd(plan, pool.threads());
  const int64_t out_blocks = divide_up(plan.group_out, split.out_channels);
  Workspace counter(nullptr);
  carve_winograd_scratch(counter, split);
  const int64_t scratch_bytes = counter.bytes();
  pool.run_with_worker(
      divide_up(split.grid.count, split.block_tiles) * out_blocks, [&](int64_t task, int worker) {
        Workspace own(scratch_base + worker * scratch_bytes);
        const int64_t first = task / out_blocks * split.block_tiles;
        const int column = static_cast<int>(task % out_blocks) * split.out_channels;
        const int columns = std::min(split.out_channels, plan.group_out - column);
        const WinogradJob job{
            plan,
            split,
            y,
            x,
            w,
            bias != nullptr ? bias + column : nullptr,
            first,
            static_cast<int>(std::min<int64_t>(split.block_tiles, split.grid.count - first)),
            column,
            columns};
        run_winograd(job, carve_winograd_scratch(own, split));
      });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
