// Weight gradient of a depthwise convolution, with channels in the vector lanes: several taps are
// summed in registers along a row of output pixels. Included once per vector target.

#if defined(THIMBLE_SIMD_DEPTHWISE_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_DEPTHWISE_WEIGHTS_INL_H_
#undef THIMBLE_SIMD_DEPTHWISE_WEIGHTS_INL_H_
#else
#define THIMBLE_SIMD_DEPTHWISE_WEIGHTS_INL_H_
#endif

#include <algorithm>

#include "parallel/thread_pool.h"
#include "simd/depthwise.h"
#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

inline constexpr int kDepthwiseTaps = 9;  // taps summed together, times this many vectors:
inline constexpr int kDepthwiseVectors = THIMBLE_MANY_REGISTERS ? 2 : 1;

// Several taps over one row of output pixels, for the channels of one or two vectors.
struct DepthwiseDots {
  const float* x[kDepthwiseTaps];  // the input that each tap reads for the first output pixel
  float* sums[kDepthwiseTaps];     // the sums of each tap, at the first channel
  const float* dy;                 // at the first output pixel
  ptrdiff_t x_step, dy_step;       // floats from one output pixel to the next
  int pixels;
  int last_count;  // channels in the last vector
};

HWY_INLINE Vec load_channels(const float* from, bool partial, int count) {
  return partial ? load_first(from, count) : hn::LoadU(F32(), from);
}

template <bool kPartial, int kTaps, int kVectors>
HWY_NOINLINE void depthwise_dots(const DepthwiseDots& job) {
  const F32 d;
  Vec sums[kTaps][kVectors];
  const float* x[kTaps];
  THIMBLE_UNROLL
  for (int t = 0; t < kTaps; ++t) {
    x[t] = job.x[t];
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) sums[t][v] = hn::Load(d, job.sums[t] + v * lanes());
  }
  const float* dy = job.dy;
  ptrdiff_t at = 0;
  for (int q = 0; q < job.pixels; ++q, at += job.x_step, dy += job.dy_step) {
    Vec grad[kVectors];
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      grad[v] = load_channels(dy + v * lanes(), kPartial && v + 1 == kVectors, job.last_count);
    }
    THIMBLE_UNROLL
    for (int t = 0; t < kTaps; ++t) {
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const Vec pixel =
            load_channels(x[t] + at + v * lanes(), kPartial && v + 1 == kVectors, job.last_count);
        sums[t][v] = hn::MulAdd(pixel, grad[v], sums[t][v]);
      }
    }
  }
  THIMBLE_UNROLL
  for (int t = 0; t < kTaps; ++t) {
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) hn::Store(sums[t][v], d, job.sums[t] + v * lanes());
  }
}

template <int kTaps>
inline void depthwise_dots(const DepthwiseDots& job, int vectors) {
  const bool partial = job.last_count < lanes();
  if (vectors == 1) {
    return partial ? depthwise_dots<true, kTaps, 1>(job) : depthwise_dots<false, kTaps, 1>(job);
  }
  partial ? depthwise_dots<true, kTaps, kDepthwiseVectors>(job)
          : depthwise_dots<false, kTaps, kDepthwiseVectors>(job);
}

// One row of output pixels of one image.
struct DepthwiseWeightRow {
  const conv_dims& d;
  const float* x;   // the image
  const float* dy;  // the row
  int p;
  float* sums;  // [taps, padded channels]
  int first_channel, last_channel;
};

// Adds taps [first, first + count) of the window for output columns [first_q, last_q), where all of
// them lie inside the image; count is 1, 3 or kDepthwiseTaps.
inline void add_depthwise_taps(const DepthwiseWeightRow& row, int first, int count, int first_q,
                               int last_q) {
  if (first_q >= last_q) return;
  const conv_dims& d = row.d;
  DepthwiseDots job{};
  job.x_step = static_cast<ptrdiff_t>(d.stride_w) * d.c;
  job.dy_step = d.c;
  job.pixels = last_q - first_q;
  constexpr int kChannels = kDepthwiseVectors * lanes();
  for (int channel = row.first_channel; channel < row.last_channel; channel += kChannels) {
    const int channels = std::min(kChannels, row.last_channel - channel);
    const int vectors = (channels + lanes() - 1) / lanes();
    job.last_count = channels - (vectors - 1) * lanes();
    job.dy = row.dy + static_cast<ptrdiff_t>(first_q) * d.c + channel;
    for (int t = 0; t < count; ++t) {
      const int r = (first + t) / d.s;
      const int s = (first + t) % d.s;
      const ptrdiff_t h = row.p * d.stride_h - d.pad_top + r * d.dilation_h;
      const ptrdiff_t w = first_q * d.stride_w - d.pad_left + s * d.dilation_w;
      job.x[t] = row.x + (h * d.w + w) * d.c + channel;
      job.sums[t] = row.sums + (first + t) * padded_channels(d.c) + channel;
    }
    if (count == 1) {
      depthwise_dots<1>(job, vectors);
    } else if (count == 3) {
      depthwise_dots<3>(job, vectors);
    } else {
      depthwise_dots<kDepthwiseTaps>(job, vectors);
    }
  }
}

// Output columns for which the taps in window columns [first_s, last_s] all lie inside the image.
inline void common_columns(const conv_dims& d, int first_s, int last_s, int& first_q, int& last_q) {
  const int left = first_s * d.dilation_w - d.pad_left;
  const int right = last_s * d.dilation_w - d.pad_left;
  first_q = left >= 0 ? 0 : (-left + d.stride_w - 1) / d.stride_w;
  last_q = right >= d.w ? 0 : std::min(d.q, (d.w - 1 - right) / d.stride_w + 1);
  first_q = std::min(first_q, d.q);
  last_q = std::max(first_q, last_q);
}

// Nine or three taps are added together where all are inside the image; at the borders one tap at a
// time.
inline void add_depthwise_row(const DepthwiseWeightRow& row) {
  const conv_dims& d = row.d;
  const int taps = d.r * d.s;
  const auto row_inside = [&](int tap) {
    const int h = row.p * d.stride_h - d.pad_top + tap / d.s * d.dilation_h;
    return h >= 0 && h < d.h;
  };
  int tap = 0;
  while (tap < taps) {
    const auto fits = [&](int count) {
      return tap + count <= taps && row_inside(tap) && row_inside(tap + count - 1);
    };
    const int count = fits(kDepthwiseTaps) ? kDepthwiseTaps : fits(3) ? 3 : 1;
    const bool together = count > 1;
    int first_q = 0;
    int last_q = 0;
    if (together) common_columns(d, 0, d.s - 1, first_q, last_q);
    if (together) add_depthwise_taps(row, tap, count, first_q, last_q);
    for (int t = tap; t < tap + count; ++t) {
      if (!row_inside(t)) continue;
      int from = 0;
      int to = 0;
      common_columns(d, t % d.s, t % d.s, from, to);
      if (together && first_q < last_q) {
        add_depthwise_taps(row, t, 1, from, std::min(to, first_q));
        add_depthwise_taps(row, t, 1, std::max(from, last_q), to);
      } else {
        add_depthwise_taps(row, t, 1, from, to);
      }
    }
    tap += count;
  }
}

// sums: carve_depthwise_sums().
inline void conv_weights_depthwise(float* dw, const float* x, const float* dy, float* sums,
                                   const conv_dims& d, parallel::ThreadPool& pool) {
  const DepthwiseWeightSplit split = split_depthwise_weights(d);
  const int64_t pitch = padded_channels(d.c);
  const int64_t floats = static_cast<int64_t>(d.r) * d.s * pitch;
  // An image row is used by several output rows: with few channels at a time it is still in the
  // cache.
  const int64_t window_rows = int64_t{d.r - 1} * d.dilation_h + 1;
  const bool panel_by_panel =
      d.stride_h == 1 && exceeds_first_cache((window_rows * d.w + d.q) * d.c);
  const int together = panel_by_panel ? kDepthwiseVectors * lanes() : d.c;
  pool.run(split.partials, [&](int64_t partial) {
    float* own = sums + partial * floats;
    std::fill_n(own, floats, 0.0f);
    const int64_t last = std::min(static_cast<int64_t>(d.n) * d.p, (partial + 1) * split.rows);
    for (int channel = 0; channel < d.c; channel += together) {
      for (int64_t row = partial * split.rows; row < last; ++row) {
        const float* image = x + row / d.p * d.h * d.w * d.c;
        add_depthwise_row({d, image, dy + row * d.q * d.c, static_cast<int>(row % d.p), own,
                           channel, std::min(channel + together, d.c)});
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
