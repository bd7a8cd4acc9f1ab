// Weight gradient with input channels in the vector lanes. The register tile's rows are output
// channels (values of dy, broadcast), its columns input channels (rows of x, read in place), and
// the contraction runs over output pixels. Included once per vector target.

#if defined(THIMBLE_SIMD_CONV_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_CONV_WEIGHTS_INL_H_
#undef THIMBLE_SIMD_CONV_WEIGHTS_INL_H_
#else
#define THIMBLE_SIMD_CONV_WEIGHTS_INL_H_
#endif

#include <algorithm>

#include "simd/conv_weights.h"
#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// The work of one task: output channels [out, out + outs) of a group, summed over output rows
// [first, last), counted over all images. Of their weight_units() it takes every `slices`th one,
// starting at `slice`.
struct WeightJob {
  const conv_dims& d;
  float* dw;  // the whole partial sum
  const float* x;
  const float* dy;
  int group, out, outs;
  int first_out;  // the output channel at which dw begins
  int64_t first, last;
  int slice, slices;
};

// The columns of one tap in one tile.
struct WeightTile {
  int r, s;
  int first_q, last_q;    // output columns for which the tap lies inside the image
  int channel, channels;  // columns: input channels within the group, and those of further taps
  int out, outs;          // output channels, counted among all
};

// Output columns q with 0 <= q * stride + offset < width.
inline void valid_columns(int offset, int stride, int width, int columns, int& first, int& last) {
  first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  last = offset >= width ? 0 : std::min(columns, (width - 1 - offset) / stride + 1);
  first = std::min(first, columns);
  last = std::max(first, last);
}

// Sums output rows [first, last) into the tile; `resume`: adds to the contents of dw.
template <int kVectors>
HWY_NOINLINE void run_weight_tile(const WeightJob& job, const WeightTile& tile, int64_t first,
                                  int64_t last, bool resume) {
  const F32 df;
  const conv_dims& d = job.d;
  const int group_c = d.c / d.groups;
  const ptrdiff_t out_step = static_cast<ptrdiff_t>(d.r) * d.s * group_c;
  float* to = job.dw + (tile.out - job.first_out) * out_step +
              (static_cast<ptrdiff_t>(tile.r) * d.s + tile.s) * group_c + tile.channel;
  const int tail = tile.channels - (kVectors - 1) * lanes();  // columns of the last vector

  constexpr int kRows = tile_rows(kVectors);
  Vec sums[kRows][kVectors];
  THIMBLE_UNROLL
  for (int i = 0; i < kRows; ++i) {
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::Zero(df);
  }
  const float* rows[kRows];
  for (int64_t row = first; row < last; ++row) {
    const int64_t image = row / d.p;
    const int h = static_cast<int>(row % d.p) * d.stride_h - d.pad_top + tile.r * d.dilation_h;
    if (h < 0 || h >= d.h) continue;
    const int w = tile.first_q * d.stride_w - d.pad_left + tile.s * d.dilation_w;
    const float* x =
        job.x + ((image * d.h + h) * d.w + w) * d.c + job.group * group_c + tile.channel;
    const float* dy = job.dy + (row * d.q + tile.first_q) * d.k + tile.out;
    THIMBLE_UNROLL
    for (int i = 0; i < kRows; ++i) rows[i] = dy + std::min(i, tile.outs - 1);
    const ptrdiff_t pitch = static_cast<ptrdiff_t>(d.stride_w) * d.c;
    const int depth = tile.last_q - tile.first_q;
    if (tail == lanes()) {
      multiply_add<false>(sums, rows, d.k, x, pitch, depth, tail);
    } else {
      multiply_add<true>(sums, rows, d.k, x, pitch, depth, tail);
    }
  }
  Epilogue end;
  end.add_previous = resume;
  THIMBLE_UNROLL
  for (int i = 0; i < kRows; ++i) {
    if (i >= tile.outs) break;
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const int count = v + 1 < kVectors ? lanes() : tail;
      finish_vector(sums[i][v], to + i * out_step + v * lanes(), count, 0, end);
    }
  }
}

inline void run_weight_tile(const WeightJob& job, const WeightTile& tile, int64_t first,
                            int64_t last, bool resume, int vectors) {
  if (vectors == 1) return run_weight_tile<1>(job, tile, first, last, resume);
  if (vectors == 2) return run_weight_tile<2>(job, tile, first, last, resume);
#if THIMBLE_MANY_REGISTERS
  if (vectors == 3) return run_weight_tile<3>(job, tile, first, last, resume);
  run_weight_tile<4>(job, tile, first, last, resume);
#endif
}

// Number of units of weights that have independent sums: panels of one tap's input channels or,
// where several taps are summed together, window rows.
inline int weight_units(const conv_dims& d) {
  return merges_taps(d) ? d.r : d.r * d.s * split_columns(d.c / d.groups).count;
}

// The unit to which a panel of tap (r, s) belongs.
inline int weight_unit(const conv_dims& d, int r, int s, int panel) {
  return merges_taps(d) ? r : (r * d.s + s) * split_columns(d.c / d.groups).count + panel;
}

// Adds output columns [first_q, last_q) of rows [first, last) to `columns` contiguous weights:
// those of tap (r, s) and, beyond its input channels, those of the taps to its right.
inline void add_weight_columns(const WeightJob& job, int r, int s, int columns, int first_q,
                               int last_q, int64_t first, int64_t last, bool resume) {
  if (first_q >= last_q) {
    if (resume) return;
    last = first;  // no pixel contributes, but the sums must be initialized
  }
  const Panels panels = split_columns(columns);
  WeightTile tile{};
  tile.r = r, tile.s = s;
  tile.first_q = first_q, tile.last_q = last_q;
  for (int panel = 0; panel < panels.count; ++panel) {
    if (job.slices > 1 && weight_unit(job.d, r, s, panel) % job.slices != job.slice) continue;
    tile.channel = panel * panels.width;
    tile.channels = std::min(panels.width, columns - tile.channel);
    const int vectors = (tile.channels + lanes() - 1) / lanes();
    const int rows = tile_rows(vectors);
    for (int out = 0; out < job.outs; out += rows) {
      tile.out = job.out + out;
      tile.outs = std::min(rows, job.outs - out);
      run_weight_tile(job, tile, first, last, resume, vectors);
    }
  }
}

// Computes every tile of the task over a range of rows short enough for x and dy to stay in the
// cache.
inline void run_weight_rows(const WeightJob& job, int64_t first, int64_t last, bool resume) {
  const conv_dims& d = job.d;
  const int group_c = d.c / d.groups;
  for (int r = 0; r < d.r; ++r) {
    // Where all taps of the row are inside the image they are contiguous in memory; else [first_q,
    // last_q) is empty.
    int first_q = 0;
    int last_q = 0;
    if (merges_taps(d)) {
      int unused = 0;
      valid_columns(-d.pad_left, d.stride_w, d.w, d.q, first_q, unused);
      valid_columns(d.s - 1 - d.pad_left, d.stride_w, d.w, d.q, unused, last_q);
      last_q = std::max(first_q, last_q);
      add_weight_columns(job, r, 0, d.s * group_c, first_q, last_q, first, last, resume);
    }
    const bool started = resume || merges_taps(d);
    for (int s = 0; s < d.s; ++s) {
      int from = 0;
      int to = 0;
      valid_columns(s * d.dilation_w - d.pad_left, d.stride_w, d.w, d.q, from, to);
      if (first_q < last_q) {
        add_weight_columns(job, r, s, group_c, from, std::min(to, first_q), first, last, true);
        add_weight_columns(job, r, s, group_c, std::max(from, last_q), to, first, last, true);
      } else {
        add_weight_columns(job, r, s, group_c, from, to, first, last, started);
      }
    }
  }
}

// Slices per task: enough to give every thread several tasks of a useful size. No sum depends on
// it.
inline int weight_slices(const conv_dims& d, int64_t tasks, int threads) {
  constexpr int64_t kTasksPerThread = 4;
  if (threads == 1) return 1;
  const int64_t work = part_weight_count(d) * d.n * d.p * d.q / tasks;
  const int64_t slices = std::min({divide_up(kTasksPerThread * threads, tasks),
                                   int64_t{weight_units(d)}, work / kLeastTaskMultiplyAdds});
  return static_cast<int>(std::max<int64_t>(1, slices));
}

// partial_sums: split.partials - 1 gradients of as many weights as dw.
inline void conv_weights_wide(float* dw, const float* x, const float* dy, float* partial_sums,
                              const conv_dims& d, parallel::ThreadPool& pool) {
  constexpr int64_t kPixelsPerRun = 192;
  const WeightSplit split = split_weights(d);
  const int64_t run = std::max<int64_t>(1, kPixelsPerRun / std::max(1, d.q));
  const int64_t all_rows = static_cast<int64_t>(d.n) * d.p;
  const int channels = part_channels(d) / d.groups;
  const auto blocks = static_cast<int>(divide_up(channels, split.out_channels));
  const int64_t per_partial = static_cast<int64_t>(d.groups) * blocks;
  const int slices = weight_slices(d, per_partial * split.partials, pool.threads());
  pool.run(per_partial * split.partials * slices, [&](int64_t sliced_task) {
    const int64_t task = sliced_task / slices;
    const int64_t partial = task / per_partial;
    const int group = static_cast<int>(task % per_partial / blocks);
    const int out = static_cast<int>(task % blocks) * split.out_channels;
    WeightJob job{d,
                  partial == 0 ? dw : partial_sums + (partial - 1) * part_weight_count(d),
                  x,
                  dy,
                  group,
                  d.k_first + group * channels + out,
                  std::min(split.out_channels, channels - out),
                  d.k_first,
                  std::min(all_rows, partial * split.rows),
                  std::min(all_rows, (partial + 1) * split.rows),
                  static_cast<int>(sliced_task % slices),
                  slices};
    bool resume = partial == 0 && d.accumulate;
    int64_t first = job.first;
    do {  // runs once even without rows, to set the gradient to zero
      const int64_t last = std::min(job.last, first + run);
      run_weight_rows(job, first, last, resume);
      resume = true;
      first = last;
    } while (first < job.last);
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
