// Weight gradient of Winograd convolution; see winograd_weights.h. The gradient of the
// convolution's formula: G^T (sum over tiles of (A dy A^T) * (B^T x B)) G with the element-wise
// product *, one matrix product for each of the 16 points. Included once per vector target.

#if defined(THIMBLE_SIMD_WINOGRAD_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_WINOGRAD_WEIGHTS_INL_H_
#undef THIMBLE_SIMD_WINOGRAD_WEIGHTS_INL_H_
#else
#define THIMBLE_SIMD_WINOGRAD_WEIGHTS_INL_H_
#endif

#include <algorithm>

#include "parallel/thread_pool.h"
#include "simd/winograd_tiles-inl.h"
#include "simd/winograd_weights.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

struct WinogradWeightJob {
  const conv_dims& d;
  const WinogradWeightSplit& split;
  float* dw;  // of the first output channel of the task
  const float* x;
  const float* dy;
  int channel, channels;  // input channels
  int out, outs;          // output channels, counted among all
  int64_t first, last;    // tiles
  bool add_previous;
};

// A applied to two vectors: a, a + b, a - b, -b.
HWY_INLINE void transform_gradient(Vec a, Vec b, Vec (&to)[4]) {
  to[0] = a;
  to[1] = hn::Add(a, b);
  to[2] = hn::Sub(a, b);
  to[3] = hn::Neg(b);
}

template <bool kPartial>
HWY_INLINE void transform_gradient_vector(const float* const* pixels, int channel, int count,
                                          float* HWY_RESTRICT to, ptrdiff_t point_floats) {
  const F32 d;
  const auto load = [=](const float* from) HWY_ATTR {
    return kPartial ? load_first(from + channel, count) : hn::LoadU(d, from + channel);
  };
  Vec columns[2][4];
  THIMBLE_UNROLL
  for (int s = 0; s < 2; ++s) {
    transform_gradient(load(pixels[s]), load(pixels[2 + s]), columns[s]);
  }
  THIMBLE_UNROLL
  for (int r = 0; r < 4; ++r) {
    Vec row[4];
    transform_gradient(columns[0][r], columns[1][r], row);
    THIMBLE_UNROLL
    for (int s = 0; s < 4; ++s) hn::StoreU(row[s], d, to + (4 * r + s) * point_floats + channel);
  }
}

// The task's output channels of tiles [first, first + count), to scratch.gradients.
inline void transform_gradients(const WinogradWeightJob& job, int64_t first, int count,
                                const WinogradWeightScratch& scratch) {
  const conv_dims& d = job.d;
  const ptrdiff_t point_floats = winograd_point_floats(kWinogradSumTiles, job.split.out_channels);
  float* to = scratch.gradients;
  TilePlace at = tile_place(job.split.grid, first);
  for (int t = 0; t < count; ++t, to += winograd_pitch(job.split.out_channels)) {
    const float* pixels[4];
    for (int i = 0; i < 4; ++i) {
      const int row = 2 * at.row + i / 2;
      const int column = 2 * at.column + i % 2;
      const int64_t pixel = (at.image * d.p + row) * d.q + column;
      pixels[i] = row < d.p && column < d.q ? job.dy + pixel * d.k + job.out : scratch.zeros;
    }
    int k = 0;
    for (; k + lanes() <= job.outs; k += lanes()) {
      transform_gradient_vector<false>(pixels, k, lanes(), to, point_floats);
    }
    if (k < job.outs) transform_gradient_vector<true>(pixels, k, job.outs - k, to, point_floats);
    advance(job.split.grid, at);
  }
}

// Adds the products of `count` tiles at every point; `resume`: to those before.
inline void winograd_weight_products(const WinogradWeightJob& job, int count, bool resume,
                                     const WinogradWeightScratch& scratch) {
  const int in_pitch = winograd_pitch(job.split.in_channels);
  const Panels panels = split_columns(job.channels);
  const int rows = tile_rows(panels.vectors);
  // Whole vectors were transformed.
  const int all_columns = static_cast<int>(round_up(job.channels, lanes()));
  const float* row_pointers[kMostTileRows];
  float* out[kMostTileRows];
  TileJob tile{};
  tile.a = row_pointers;
  tile.a_step = winograd_pitch(job.split.out_channels);
  tile.b_pitch = in_pitch;
  tile.segments = 1;
  tile.depth = count;
  tile.out = out;
  tile.end.add_previous = resume;
  for (int point = 0; point < kWinogradPoints; ++point) {
    const float* const gradients =
        scratch.gradients +
        point * winograd_point_floats(kWinogradSumTiles, job.split.out_channels);
    float* const sums =
        scratch.sums + point * winograd_point_floats(job.split.out_channels, job.split.in_channels);
    for (int column = 0; column < all_columns; column += panels.width) {
      tile.b = scratch.inputs +
               point * winograd_point_floats(kWinogradSumTiles, job.split.in_channels) + column;
      tile.columns = std::min(panels.width, all_columns - column);
      for (int row = 0; row < job.outs; row += rows) {
        tile.rows = std::min(rows, job.outs - row);
        for (int i = 0; i < rows; ++i) {
          const int at = row + std::min(i, tile.rows - 1);  // extra rows repeat the last one
          row_pointers[i] = gradients + at;
          out[i] = sums + at * in_pitch + column;
        }
        tile_function(tile.rows, panels.vectors)(tile);
      }
    }
  }
}

// G^T applied to four vectors: a + (b + c) / 2, (b - c) / 2, (b + c) / 2 + d.
HWY_INLINE void transform_sum(const Vec (&from)[4], Vec (&to)[3]) {
  const Vec half = hn::Set(F32(), 0.5F);
  const Vec inner = hn::Mul(half, hn::Add(from[1], from[2]));
  to[0] = hn::Add(from[0], inner);
  to[1] = hn::Mul(half, hn::Sub(from[1], from[2]));
  to[2] = hn::Add(inner, from[3]);
}

// Transforms the sums back into the gradient.
inline void winograd_weight_results(const WinogradWeightJob& job,
                                    const WinogradWeightScratch& scratch) {
  const F32 d;
  const int in_pitch = winograd_pitch(job.split.in_channels);
  const ptrdiff_t point_floats =
      winograd_point_floats(job.split.out_channels, job.split.in_channels);
  Epilogue end;
  end.add_previous = job.add_previous;
  for (int k = 0; k < job.outs; ++k) {
    for (int c = 0; c < job.channels; c += lanes()) {
      const float* const sums = scratch.sums + k * in_pitch + c;
      Vec rows[3][4];
      THIMBLE_UNROLL
      for (int s = 0; s < 4; ++s) {
        Vec values[4];
        Vec transformed[3];
        THIMBLE_UNROLL
        for (int r = 0; r < 4; ++r) values[r] = hn::LoadU(d, sums + (4 * r + s) * point_floats);
        transform_sum(values, transformed);
        THIMBLE_UNROLL
        for (int r = 0; r < 3; ++r) rows[r][s] = transformed[r];
      }
      THIMBLE_UNROLL
      for (int r = 0; r < 3; ++r) {
        Vec results[3];
        transform_sum(rows[r], results);
        THIMBLE_UNROLL
        for (int s = 0; s < 3; ++s) {
          float* const to =
              job.dw + (static_cast<ptrdiff_t>(k) * 9 + 3 * r + s) * job.d.c + job.channel + c;
          finish_vector(results[s], to, job.channels - c, 0, end);
        }
      }
    }
  }
}

inline void run_winograd_weights(const WinogradWeightJob& job,
                                 const WinogradWeightScratch& scratch) {
  const conv_dims& d = job.d;
  const TiledImage image{job.x, d.h, d.w, d.c, -d.pad_top, -d.pad_left};
  std::fill_n(scratch.zeros, kWinogradChannels, 0.0F);
  int64_t tile = job.first;
  do {  // runs once even without tiles, to set the sums to zero
    const auto count = static_cast<int>(std::min<int64_t>(kWinogradSumTiles, job.last - tile));
    transform_tiles(image, job.split.grid, tile, count, job.channel, job.channels, scratch.zeros,
                    scratch.inputs, winograd_pitch(job.split.in_channels),
                    winograd_point_floats(kWinogradSumTiles, job.split.in_channels));
    transform_gradients(job, tile, count, scratch);
    winograd_weight_products(job, count, tile > job.first, scratch);
    tile += kWinogradSumTiles;
  } while (tile < job.last);
  winograd_weight_results(job, scratch);
}

// partial_sums: split.partials - 1 gradients of as many weights as dw; scratch: the bytes of
// carve_winograd_weight_scratch() per thread.
inline void conv_weights_winograd(float* dw, const float* x, const float* dy, float* partial_sums,
                                  const conv_dims& d, char* scratch_base,
                                  parallel::ThreadPool& pool) {
  const WinogradWeightSplit split = split_winograd_weights(d, pool.threads());
  const int channels = part_channels(d);
  const int64_t in_blocks = divide_up(d.c, split.in_channels);
  const int64_t out_blocks = divide_up(channels, split.out_channels);
  Workspace counter(nullptr);
  carve_winograd_weight_scratch(counter, split);
  const int64_t scratch_bytes = counter.bytes();
  pool.run_with_worker(in_blocks * out_blocks * split.partials, [&](int64_t task, int worker) {
    Workspace own(scratch_base + worker * scratch_bytes);
    const int64_t partial = task / (in_blocks * out_blocks);
    const int out = static_cast<int>(task / in_blocks % out_blocks) * split.out_channels;
    const int channel = static_cast<int>(task % in_blocks) * split.in_channels;
    float* const to = partial == 0 ? dw : partial_sums + (partial - 1) * part_weight_count(d);
    const int64_t first = std::min(split.grid.count, partial * split.tiles);
    const WinogradWeightJob job{d,
                                split,
                                to + static_cast<ptrdiff_t>(out) * 9 * d.c,
                                x,
                                dy,
                                channel,
                                std::min(split.in_channels, d.c - channel),
                                d.k_first + out,
                                std::min(split.out_channels, channels - out),
                                first,
                                std::min(split.grid.count, first + split.tiles),
                                partial == 0 && d.accumulate != 0};
    run_winograd_weights(job, carve_winograd_weight_scratch(own, split));
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
