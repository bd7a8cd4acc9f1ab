// Weight gradient of Winograd convolution; see winograd_weights.h. The gradient of the
// convolution's formula: G^T (sum over tiles of (A dy A^T) * (B^T x B)) G with the element-wise
// product *, one matrix product for each point. Included once per vector target.

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
  float* dw;  // of the first output channel
  const float* x;
  const float* dy;
  int channel, channels;  // input channels
  int out, outs;          // output channels, counted among all; more than a block of them only if
                          // the tiles are a single block
  int64_t first, last;    // tiles
  bool add_previous;
};

template <WinogradKind kKind, bool kPartial>
HWY_INLINE void transform_gradient_vector(const float* const* pixels, int channel, int count,
                                          float* HWY_RESTRICT to, ptrdiff_t point_floats) {
  constexpr int kPoints = winograd_form(kKind).points;
  constexpr int kResults = winograd_form(kKind).results;
  const F32 d;
  transform_square<kResults, kPoints>(
      [=](int r, int s) HWY_ATTR {
        const float* const from = pixels[kResults * r + s] + channel;
        return kPartial ? load_first(from, count) : hn::LoadU(d, from);
      },
      Winograd<kKind>::gradient,
      [=](int r, int s, Vec v)
          HWY_ATTR { hn::StoreU(v, d, to + (kPoints * r + s) * point_floats + channel); });
}

// The task's output channels of tiles [first, first + count), to scratch.gradients.
template <WinogradKind kKind>
inline void transform_gradients(const WinogradWeightJob& job, int64_t first, int count,
                                const WinogradWeightScratch& scratch) {
  constexpr int kResults = winograd_form(kKind).results;
  constexpr int kPixels = kResults * kResults;
  const conv_dims& d = job.d;
  const ptrdiff_t point_floats =
      winograd_point_floats(kKind, job.split.block_tiles, job.split.out_channels);
  for_each_tile<kPixels>(
      job.split.grid, first, count,
      [&](const TilePlace& at, const float** pixels) HWY_ATTR {
        for (int i = 0; i < kPixels; ++i) {
          const int row = kResults * at.row + i / kResults;
          const int column = kResults * at.column + i % kResults;
          const int64_t pixel = (at.image * d.p + row) * d.q + column;
          pixels[i] = row < d.p && column < d.q ? job.dy + pixel * d.k + job.out : scratch.zeros;
        }
      },
      [&](int t, const float* const* pixels, const float* const* next) HWY_ATTR {
        float* const to =
            scratch.gradients + static_cast<ptrdiff_t>(t) * winograd_pitch(job.split.out_channels);
        int k = 0;
        for (; k + lanes() <= job.outs; k += lanes()) {
          prefetch_pixels<kPixels>(next, k);
          transform_gradient_vector<kKind, false>(pixels, k, lanes(), to, point_floats);
        }
        if (k < job.outs) {
          transform_gradient_vector<kKind, true>(pixels, k, job.outs - k, to, point_floats);
        }
      });
}

// Adds the products of `count` tiles at every point; `resume`: to those before. Meanwhile fetches
// what is read or written next.
template <WinogradKind kKind>
inline void winograd_weight_products(const WinogradWeightJob& job, int count, bool resume,
                                     const WinogradWeightScratch& scratch, const Ahead& one,
                                     const Ahead& other) {
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
  const int64_t calls =
      winograd_points(kKind) * divide_up(all_columns, panels.width) * divide_up(job.outs, rows);
  Fetch fetch(one, other, calls);
  for (int point = 0; point < winograd_points(kKind); ++point) {
    const int sum = winograd_weight_point(kKind, point);
    tile.end.add_previous = resume || !is_first_of_weight(kKind, point);
    const float* const gradients =
        scratch.gradients +
        point * winograd_point_floats(kKind, job.split.block_tiles, job.split.out_channels);
    float* const sums = scratch.sums + sum * winograd_point_floats(kKind, job.split.out_channels,
                                                                   job.split.in_channels);
    for (int column = 0; column < all_columns; column += panels.width) {
      tile.b = scratch.inputs +
               point * winograd_point_floats(kKind, job.split.block_tiles, job.split.in_channels) +
               column;
      tile.columns = std::min(panels.width, all_columns - column);
      for (int row = 0; row < job.outs; row += rows) {
        fetch.next();
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

// Transforms the sums back into the gradient.
template <WinogradKind kKind>
inline void winograd_weight_results(const WinogradWeightJob& job,
                                    const WinogradWeightScratch& scratch) {
  constexpr int kPoints = winograd_form(kKind).weights;
  const F32 d;
  const int in_pitch = winograd_pitch(job.split.in_channels);
  const ptrdiff_t point_floats =
      winograd_point_floats(kKind, job.split.out_channels, job.split.in_channels);
  Epilogue end;
  end.add_previous = job.add_previous;
  for (int k = 0; k < job.outs; ++k) {
    for (int c = 0; c < job.channels; c += lanes()) {
      const float* const sums = scratch.sums + k * in_pitch + c;
      float* const to = job.dw + static_cast<ptrdiff_t>(k) * 9 * job.d.c + job.channel + c;
      transform_square<kPoints, 3>(
          [=](int r, int s)
              HWY_ATTR { return hn::LoadU(d, sums + (kPoints * r + s) * point_floats); },
          Winograd<kKind>::sum,
          [&](int r, int s, Vec v)
              HWY_ATTR { finish_vector(v, to + (3 * r + s) * job.d.c, job.channels - c, 0, end); });
    }
  }
}

template <WinogradKind kKind>
inline void run_winograd_weights(const WinogradWeightJob& job,
                                 const WinogradWeightScratch& scratch) {
  const conv_dims& d = job.d;
  const TiledImage image{job.x, d.h, d.w, d.c, -d.pad_top, -d.pad_left};
  std::fill_n(scratch.zeros, std::max(job.split.in_channels, job.split.out_channels), 0.0F);
  for (int64_t tile = job.first; tile < job.last; tile += job.split.block_tiles) {
    const auto count = static_cast<int>(std::min<int64_t>(job.split.block_tiles, job.last - tile));
    transform_tiles<kKind>(
        image, job.split.grid, tile, count, job.channel, job.channels, scratch.zeros,
        scratch.inputs, winograd_pitch(job.split.in_channels),
        winograd_point_floats(kKind, job.split.block_tiles, job.split.in_channels));
    for (int out = 0; out < job.outs; out += job.split.out_channels) {
      WinogradWeightJob block = job;
      block.dw += static_cast<ptrdiff_t>(out) * 9 * d.c;
      block.out += out;
      block.outs = std::min(job.split.out_channels, job.outs - out);
      transform_gradients<kKind>(block, tile, count, scratch);
      const TiledImage results{job.dy, d.p, d.q, d.k, 0, 0};
      const bool ends = tile + count == job.last;
      const bool goes_on = out + job.split.out_channels < job.outs;
      Ahead one;
      Ahead other;
      if (ends) {
        one = {block.dw + job.channel, int64_t{9} * block.outs, d.c,
               static_cast<int>(divide_up(job.channels, 16))};
      } else {
        one = ahead_of_tiles(image, job.split.grid, tile + count, count, job.channel, job.channels);
        other = ahead_of_tiles(results, job.split.grid, tile + count, count, job.out,
                               job.split.out_channels);
      }
      if (goes_on) {
        other = ahead_of_tiles(results, job.split.grid, tile, count,
                               block.out + job.split.out_channels, job.split.out_channels);
      }
      winograd_weight_products<kKind>(block, count, tile > job.first, scratch, one, other);
      if (ends) winograd_weight_results<kKind>(block, scratch);
    }
  }
}

// partial_sums: split.partials - 1 gradients of as many weights as dw; scratch: the bytes of
// carve_winograd_weight_scratch() per thread.
inline void conv_weights_winograd(float* dw, const float* x, const float* dy, float* partial_sums,
                                  const conv_dims& d, char* scratch_base,
                                  parallel::ThreadPool& pool) {
  const WinogradWeightSplit split =
      split_winograd_weights(d, winograd_weights_kind(d), pool.threads());
  const int channels = part_channels(d);
  const int64_t in_blocks = divide_up(d.c, split.in_channels);
  const int64_t out_blocks = divide_up(channels, split.task_channels);
  Workspace counter(nullptr);
  carve_winograd_weight_scratch(counter, split);
  const int64_t scratch_bytes = counter.bytes();
  pool.run_with_worker(in_blocks * out_blocks * split.partials, [&](int64_t task, int worker) {
    Workspace own(scratch_base + worker * scratch_bytes);
    const int64_t partial = task / (in_blocks * out_blocks);
    const int out = static_cast<int>(task / in_blocks % out_blocks) * split.task_channels;
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
                                std::min(split.task_channels, channels - out),
                                first,
                                std::min(split.grid.count, first + split.tiles),
                                partial == 0 && d.accumulate != 0};
    const WinogradWeightScratch scratch = carve_winograd_weight_scratch(own, split);
    if (split.grid.kind == WinogradKind::kTwo) {
      run_winograd_weights<WinogradKind::kTwo>(job, scratch);
    } else if (split.grid.kind == WinogradKind::kFour) {
      run_winograd_weights<WinogradKind::kFour>(job, scratch);
    } else {
      run_winograd_weights<WinogradKind::kStrided>(job, scratch);
    }
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
