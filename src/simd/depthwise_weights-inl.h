// Weight gradient of a depthwise convolution, with channels in the vector lanes: the products of a
// tile of neighbouring output pixels are summed in registers, each image pixel read once for all
// taps of a row of the window. Included once per vector target.

#if defined(THIMBLE_SIMD_DEPTHWISE_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_DEPTHWISE_WEIGHTS_INL_H_
#undef THIMBLE_SIMD_DEPTHWISE_WEIGHTS_INL_H_
#else
#define THIMBLE_SIMD_DEPTHWISE_WEIGHTS_INL_H_
#endif

#include <algorithm>

#include "exec/thread_pool.h"
#include "simd/depthwise.h"
#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

inline constexpr int kDotPixels = 8;  // of a whole tile

// One row of output pixels of one image, for its channels before the last one.
struct DepthwiseDots {
  const conv_dims& d;
  const float* x;   // the image
  const float* dy;  // the row
  float* sums;      // [taps, padded channels]
  ptrdiff_t pitch;  // of the sums
  int p;
  int first_r, last_r;  // rows of the window that lie inside the image
  int inside, outside;  // columns [inside, outside) have all their taps inside the image
  int last_channel;
};

// kRuns runs of kTaps taps each, in neighbouring rows of the window, and the channels of one
// vector.
template <int kRuns, int kTaps>
struct DepthwiseSums {
  Vec of[kRuns][kTaps];
  float* at;  // the first one's place
  ptrdiff_t run_step, pitch;

  HWY_INLINE void load() {
    THIMBLE_UNROLL
    for (int run = 0; run < kRuns; ++run) {
      THIMBLE_UNROLL
      for (int t = 0; t < kTaps; ++t) {
        of[run][t] = hn::Load(F32(), at + run * run_step + t * pitch);
      }
    }
  }
  HWY_INLINE void store() const {
    THIMBLE_UNROLL
    for (int run = 0; run < kRuns; ++run) {
      THIMBLE_UNROLL
      for (int t = 0; t < kTaps; ++t) {
        hn::Store(of[run][t], F32(), at + run * run_step + t * pitch);
      }
    }
  }
};

// Where a tile stands: its first output column, the input column that its first tap reads, that
// place in the first run's row of the image, and the distance to the next run's.
struct DotsTile {
  int column, first;
  const float* from;
  ptrdiff_t run_floats;
  int channel, count;
};

// Adds the products of kPixels neighbouring output pixels. kStep: input columns from one output
// column to the next, a constant so that taps share what they read; of no meaning with one tap.
// kChecked: the tile may reach over the borders of the image, where pixels count as zero, and over
// the end of the row, and the vector may be partial.
template <int kStep, bool kChecked, int kPixels, int kRuns, int kTaps>
HWY_INLINE void depthwise_dots(const conv_dims& d, const float* dy_row, const DotsTile& tile,
                               Vec (&sums)[kRuns][kTaps]) {
  const F32 f;
  const ptrdiff_t pixel_step = d.c;
  const auto pixel = [&](int run, int step) HWY_ATTR {
    const float* at = tile.from + run * tile.run_floats + step * pixel_step;
    if constexpr (!kChecked) return hn::LoadU(f, at);
    const auto place = static_cast<unsigned>(tile.first + step);
    return place < static_cast<unsigned>(d.w) ? load_first(at, tile.count) : hn::Zero(f);
  };
  Vec dy[kPixels];
  THIMBLE_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    const float* at = dy_row + (tile.column + i) * pixel_step + tile.channel;
    if constexpr (kChecked) {
      dy[i] = tile.column + i < d.q ? load_first(at, tile.count) : hn::Zero(f);
    } else {
      dy[i] = hn::LoadU(f, at);
    }
  }
  THIMBLE_UNROLL
  for (int run = 0; run < kRuns; ++run) {
    if constexpr (kTaps == 1) {
      THIMBLE_UNROLL
      for (int i = 0; i < kPixels; ++i) {
        if (kChecked && tile.column + i >= d.q) break;
        sums[run][0] = hn::MulAdd(pixel(run, i * d.stride_w), dy[i], sums[run][0]);
      }
    } else {
      THIMBLE_UNROLL
      for (int j = 0; j < (kPixels - 1) * kStep + kTaps; ++j) {
        const Vec x = pixel(run, j);
        THIMBLE_UNROLL
        for (int t = 0; t < kTaps; ++t) {
          const int i = (j - t) / kStep;
          if (j < t || (j - t) % kStep != 0 || i >= kPixels) continue;
          if (kChecked && tile.column + i >= d.q) continue;
          sums[run][t] = hn::MulAdd(x, dy[i], sums[run][t]);
        }
      }
    }
  }
}

// All columns of the row, for kRuns rows of the window from row r on, taps from column s on, and
// the channels of one vector.
template <int kRuns, int kTaps, int kStep>
HWY_NOINLINE void add_depthwise_runs(const DepthwiseDots& job, int r, int s, int channel) {
  constexpr int kHalf = kDotPixels / 2;
  const conv_dims d = job.d;
  const float* const dy = job.dy;
  const ptrdiff_t h = job.p * d.stride_h - d.pad_top + r * d.dilation_h;
  const float* const row = job.x + h * d.w * d.c + channel;
  DotsTile tile{};
  tile.run_floats = static_cast<ptrdiff_t>(d.dilation_h) * d.w * d.c;
  tile.channel = channel;
  tile.count = std::min(lanes(), job.last_channel - channel);
  DepthwiseSums<kRuns, kTaps> sums;
  sums.at = job.sums + (r * d.s + s) * job.pitch + channel;
  sums.run_step = d.s * job.pitch;
  sums.pitch = job.pitch;
  sums.load();
  const auto step_to = [&](int column) HWY_ATTR {
    tile.column = column;
    tile.first = column * d.stride_w - d.pad_left + s * d.dilation_w;
    tile.from = row + static_cast<ptrdiff_t>(tile.first) * d.c;
  };
  int column = 0;
  if (tile.count < lanes()) {
    for (; column < d.q; column += kDotPixels) {
      step_to(column);
      depthwise_dots<kStep, true, kDotPixels>(d, dy, tile, sums.of);
    }
  }
  for (; column < job.inside; ++column) {
    step_to(column);
    depthwise_dots<kStep, true, 1>(d, dy, tile, sums.of);
  }
  for (; column + kDotPixels <= job.outside; column += kDotPixels) {
    step_to(column);
    depthwise_dots<kStep, false, kDotPixels>(d, dy, tile, sums.of);
  }
  if (column + kHalf <= job.outside) {
    step_to(column);
    depthwise_dots<kStep, false, kHalf>(d, dy, tile, sums.of);
    column += kHalf;
  }
  for (; column < d.q; ++column) {
    step_to(column);
    depthwise_dots<kStep, true, 1>(d, dy, tile, sums.of);
  }
  sums.store();
}

// Taps [s, s + kTaps) of all rows of the window, and the channels of one vector.
template <int kTaps, int kStep>
inline void add_depthwise_taps(const DepthwiseDots& job, int s, int channel) {
  int r = job.first_r;
  for (; r + 3 <= job.last_r; r += 3) add_depthwise_runs<3, kTaps, kStep>(job, r, s, channel);
  for (; r < job.last_r; ++r) add_depthwise_runs<1, kTaps, kStep>(job, r, s, channel);
}

// Adds row `row` of all images' output rows, for channels [first, last).
inline void add_depthwise_row(const conv_dims& d, const float* x, const float* dy, float* sums,
                              int64_t row, int first, int last) {
  const int p = static_cast<int>(row % d.p);
  DepthwiseDots job{.d = d,
                    .x = x + row / d.p * d.h * d.w * d.c,
                    .dy = dy + row * d.q * d.c,
                    .sums = sums,
                    .pitch = padded_channels(d.c),
                    .p = p};
  const int top = p * d.stride_h - d.pad_top;
  while (job.first_r < d.r && top + job.first_r * d.dilation_h < 0) ++job.first_r;
  job.last_r = job.first_r;
  while (job.last_r < d.r && top + job.last_r * d.dilation_h < d.h) ++job.last_r;
  const int right = (d.s - 1) * d.dilation_w - d.pad_left;
  job.inside = d.pad_left <= 0 ? 0 : std::min(d.q, (d.pad_left + d.stride_w - 1) / d.stride_w);
  job.outside = right >= d.w ? 0 : std::min(d.q, (d.w - 1 - right) / d.stride_w + 1);
  job.last_channel = last;
  const bool neighbours = d.dilation_w == 1 && d.stride_w <= 2;
  for (int channel = first; channel < last; channel += lanes()) {
    int s = 0;
    for (; neighbours && s + 3 <= d.s; s += 3) {
      d.stride_w == 1 ? add_depthwise_taps<3, 1>(job, s, channel)
                      : add_depthwise_taps<3, 2>(job, s, channel);
    }
    for (; s < d.s; ++s) add_depthwise_taps<1, 1>(job, s, channel);
  }
}

// sums: carve_depthwise_sums().
inline void conv_weights_depthwise(float* dw, const float* x, const float* dy, float* sums,
                                   const conv_dims& d, exec::ThreadPool& pool) {
  const DepthwiseWeightSplit split = split_depthwise_weights(d);
  const int64_t pitch = padded_channels(d.c);
  const int64_t floats = static_cast<int64_t>(d.r) * d.s * pitch;
  // An image row serves several output rows: with few channels at a time it is still in the cache.
  const int64_t window_rows = int64_t{d.r - 1} * d.dilation_h + 1;
  const bool panel_by_panel =
      d.stride_h == 1 && exceeds_first_cache((window_rows * d.w + d.q) * d.c);
  const int together = panel_by_panel ? 2 * lanes() : d.c;
  pool.run(split.partials, [&](int64_t partial) {
    float* own = sums + partial * floats;
    std::fill_n(own, floats, 0.0f);
    const int64_t last = std::min(static_cast<int64_t>(d.n) * d.p, (partial + 1) * split.rows);
    for (int channel = 0; channel < d.c; channel += together) {
      for (int64_t row = partial * split.rows; row < last; ++row) {
        add_depthwise_row(d, x, dy, own, row, channel, std::min(channel + together, d.c));
      }
    }
  });
  for (int partial = 1; partial < split.partials; ++partial) {
    for (int64_t i = 0; i < floats; ++i) sums[i] += sums[partial * floats + i];
  }
  const int taps = d.r * d.s;
  for (int c = 0; c < d.c; ++c) {
    for (int t = 0; t < taps; ++t) {
      float& to = dw[static_cast<ptrdiff_t>(c) * taps + t];
      to = d.accumulate ? to + sums[t * pitch + c] : sums[t * pitch + c];
    }
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
