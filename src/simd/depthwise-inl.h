// Depthwise convolution and its adjoint, with channels in the vector lanes: a tile of output pixels
// is summed in registers, and the image is read in place. Included once per vector target.

#if defined(THIMBLE_SIMD_DEPTHWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_DEPTHWISE_INL_H_
#undef THIMBLE_SIMD_DEPTHWISE_INL_H_
#else
#define THIMBLE_SIMD_DEPTHWISE_INL_H_
#endif

#include <algorithm>

#include "parallel/thread_pool.h"
#include "simd/depthwise.h"
#include "simd/pack-inl.h"
#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

#if THIMBLE_MANY_REGISTERS
inline constexpr int kDepthwisePixels = 6;
#else
inline constexpr int kDepthwisePixels = 4;
#endif

// One row of the output, for the channels of one tile.
struct DepthwiseRow {
  float* out;  // the row's first pixel
  const float* bias;
  const DepthwiseTap* taps;
  int tap_count;
  ptrdiff_t in_step, out_step;  // floats from one output column to the next, in x and in y
  int channel;
  int last_count;  // channels in the last vector
  int activation;
  bool add_previous;
};

template <int kVectors>
HWY_INLINE void finish_pixel(const Vec (&sums)[kVectors], const DepthwiseRow& row, int column) {
  Epilogue end{nullptr, row.add_previous, row.activation};
  float* to = row.out + column * row.out_step + row.channel;
  THIMBLE_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const int count = v + 1 < kVectors ? lanes() : row.last_count;
    finish_vector(sums[v], to + v * lanes(), count, 0, end);
  }
}

// kPixels consecutive output pixels whose taps all lie inside the image.
template <bool kPartial, int kPixels, int kVectors>
HWY_INLINE void depthwise_inside(const DepthwiseRow& row, int column) {
  const F32 d;
  Vec sums[kPixels][kVectors];
  THIMBLE_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      sums[i][v] = hn::Load(d, row.bias + row.channel + v * lanes());
    }
  }
  const ptrdiff_t at = column * row.in_step + row.channel;
  for (int t = 0; t < row.tap_count; ++t) {
    const float* from = row.taps[t].row + at;
    Vec weights[kVectors];
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      weights[v] = hn::Load(d, row.taps[t].weights + row.channel + v * lanes());
    }
    THIMBLE_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const float* pixel = from + i * row.in_step + v * lanes();
        const Vec x =
            kPartial && v + 1 == kVectors ? load_first(pixel, row.last_count) : hn::LoadU(d, pixel);
        sums[i][v] = hn::MulAdd(weights[v], x, sums[i][v]);
      }
    }
  }
  THIMBLE_UNROLL
  for (int i = 0; i < kPixels; ++i) finish_pixel(sums[i], row, column + i);
}

// One output pixel near the border: only taps inside the image are added.
template <int kVectors>
HWY_INLINE void depthwise_border(const DepthwiseRow& row, const ConvPlan& plan, int column) {
  const F32 d;
  Vec sums[kVectors];
  THIMBLE_UNROLL
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Load(d, row.bias + row.channel + v * lanes());
  for (int t = 0; t < row.tap_count; ++t) {
    const int w = column * plan.column_step + row.taps[t].column;
    if (w < 0 || w >= plan.in_w) continue;
    const float* from = row.taps[t].row + column * row.in_step + row.channel;
    const float* weights = row.taps[t].weights + row.channel;
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const int count = v + 1 < kVectors ? lanes() : row.last_count;
      const Vec x = count < lanes() ? load_first(from + v * lanes(), count)
                                    : hn::LoadU(d, from + v * lanes());
      sums[v] = hn::MulAdd(hn::Load(d, weights + v * lanes()), x, sums[v]);
    }
  }
  finish_pixel(sums, row, column);
}

// Output columns [first, last) have all their taps inside the image.
template <bool kPartial, int kVectors>
HWY_NOINLINE void depthwise_row(const DepthwiseRow& row, const ConvPlan& plan, int columns,
                                int first, int last) {
  int column = 0;
  for (; column < first; ++column) depthwise_border<kVectors>(row, plan, column);
  for (; column + kDepthwisePixels <= last; column += kDepthwisePixels) {
    depthwise_inside<kPartial, kDepthwisePixels, kVectors>(row, column);
  }
  constexpr int kHalf = kDepthwisePixels / 2;
  for (; column + kHalf <= last; column += kHalf) {
    depthwise_inside<kPartial, kHalf, kVectors>(row, column);
  }
  for (; column < last; ++column) depthwise_inside<kPartial, 1, kVectors>(row, column);
  for (; column < columns; ++column) depthwise_border<kVectors>(row, plan, column);
}

inline void depthwise_row(const DepthwiseRow& row, const ConvPlan& plan, int vectors, int columns,
                          int first, int last) {
  const bool partial = row.last_count < lanes();
  if (vectors == 1) {
    return partial ? depthwise_row<true, 1>(row, plan, columns, first, last)
                   : depthwise_row<false, 1>(row, plan, columns, first, last);
  }
  if (vectors == 2) {
    return partial ? depthwise_row<true, 2>(row, plan, columns, first, last)
                   : depthwise_row<false, 2>(row, plan, columns, first, last);
  }
#if THIMBLE_MANY_REGISTERS
  if (vectors == 3) {
    return partial ? depthwise_row<true, 3>(row, plan, columns, first, last)
                   : depthwise_row<false, 3>(row, plan, columns, first, last);
  }
  partial ? depthwise_row<true, 4>(row, plan, columns, first, last)
          : depthwise_row<false, 4>(row, plan, columns, first, last);
#endif
}

// Output columns with 0 <= column * step + tap < width for every tap.
inline void inside_columns(const ConvPlan& plan, const DepthwiseTap* taps, int count, int columns,
                           int& first, int& last) {
  first = 0;
  last = columns;
  for (int t = 0; t < count; ++t) {
    const int offset = taps[t].column;
    const int step = plan.column_step;
    if (offset < 0) first = std::max(first, (-offset + step - 1) / step);
    last = std::min(last, offset >= plan.in_w ? 0 : (plan.in_w - 1 - offset) / step + 1);
  }
  first = std::min(first, columns);
  last = std::max(first, last);
}

// The work of one task: panels of channels [first, last).
struct DepthwisePanels {
  int first, last;
};

// Computes row i of a phase of one image.
inline void run_depthwise_row(const ConvPlan& plan, const ConvPhase& phase, const float* weights,
                              const float* bias, DepthwiseTap* taps, int image, int i,
                              const DepthwisePanels& part, const float* x, float* y) {
  const int64_t pitch = padded_channels(plan.out_c);
  int count = 0;
  for (int t = 0; t < phase.tap_count; ++t) {
    const int h = i * plan.row_step + phase.taps[t].row;
    if (h < 0 || h >= plan.in_h) continue;
    const ptrdiff_t at =
        (static_cast<ptrdiff_t>(image) * plan.in_h + h) * plan.in_w + phase.taps[t].column;
    taps[count++] = {x + at * plan.in_c, weights + t * pitch, phase.taps[t].column};
  }
  int first = 0;
  int last = 0;
  inside_columns(plan, taps, count, phase.columns, first, last);

  const ptrdiff_t out_row = (static_cast<ptrdiff_t>(image) * plan.out_h + phase.row +
                             static_cast<ptrdiff_t>(i) * plan.out_row_step) *
                            plan.out_w;
  DepthwiseRow row{};
  row.out = y + (out_row + phase.column) * plan.out_c;
  row.bias = bias;
  row.taps = taps;
  row.tap_count = count;
  row.in_step = static_cast<ptrdiff_t>(plan.column_step) * plan.in_c;
  row.out_step = static_cast<ptrdiff_t>(plan.out_column_step) * plan.out_c;
  row.activation = plan.activation;
  row.add_previous = plan.add_previous;
  const Panels panels = split_columns(plan.out_c);
  for (int panel = part.first; panel < part.last; ++panel) {
    row.channel = panel * panels.width;
    const int channels = std::min(panels.width, plan.out_c - row.channel);
    const int vectors = (channels + lanes() - 1) / lanes();
    row.last_count = channels - (vectors - 1) * lanes();
    depthwise_row(row, plan, vectors, phase.columns, first, last);
  }
}

inline void fill_depthwise_tables(const ConvPlan& plan, const ConvWeights& w, const float* bias,
                                  const DepthwiseTables& tables) {
  const int64_t pitch = padded_channels(plan.out_c);
  std::fill_n(tables.bias, pitch, 0.0f);
  if (bias) std::copy_n(bias, plan.out_c, tables.bias);
  float* to = tables.weights;
  for (int p = 0; p < plan.phase_count; ++p) {
    const ConvPhase& phase = plan.phases[p];
    for (int t = 0; t < phase.tap_count; ++t, to += pitch) {
      std::fill_n(to, pitch, 0.0f);
      for (int c = 0; c < plan.out_c; ++c) {
        to[c] = w.at(c * plan.group_weights + phase.taps[t].weight);
      }
    }
  }
}

// y, x, w, bias: see conv(); scratch_base: carve_depthwise_scratch() per thread.
inline void conv_depthwise(const ConvPlan& plan, float* y, const float* x, const ConvWeights& w,
                           const float* bias, const DepthwiseTables& tables, char* scratch_base,
                           parallel::ThreadPool& pool) {
  fill_depthwise_tables(plan, w, bias, tables);
  Workspace counter(nullptr);
  carve_depthwise_scratch(counter, plan);
  const int rows = depthwise_rows(plan);
  const int panels = split_columns(plan.out_c).count;
  // An input row is used by several output rows: with few channels at a time it is still in the
  // cache.
  const int64_t window_rows = plan.tap_rows.last - plan.tap_rows.first + 1;
  const bool panel_by_panel =
      plan.row_step == 1 && exceeds_first_cache(window_rows * plan.in_w * plan.in_c);
  const int together = panel_by_panel ? 1 : panels;
  const int64_t runs = divide_up(plan.phase_rows(), rows);
  pool.run_with_worker(plan.images * runs, [&](int64_t task, int worker) {
    Workspace own(scratch_base + worker * counter.bytes());
    DepthwiseTap* taps = carve_depthwise_scratch(own, plan);
    const int image = static_cast<int>(task / runs);
    const int first = static_cast<int>(task % runs) * rows;
    for (int panel = 0; panel < panels; panel += together) {
      const DepthwisePanels part{panel, std::min(panel + together, panels)};
      const float* weights = tables.weights;
      for (int p = 0; p < plan.phase_count; ++p) {
        const ConvPhase& phase = plan.phases[p];
        const int last = std::min(first + rows, phase.rows);
        for (int i = first; i < last; ++i) {
          run_depthwise_row(plan, phase, weights, tables.bias, taps, image, i, part, x, y);
        }
        weights += phase.tap_count * padded_channels(plan.out_c);
      }
    }
  });
}

// The same where y is x and the plan has one phase that steps by one pixel: a panel of channels of
// an image is copied out of the way. scratch_base: carve_depthwise_copy() per thread.
inline void conv_depthwise_in_place(const ConvPlan& plan, float* y, const ConvWeights& w,
                                    const DepthwiseTables& tables, char* scratch_base,
                                    parallel::ThreadPool& pool) {
  fill_depthwise_tables(plan, w, nullptr, tables);
  Workspace counter(nullptr);
  carve_depthwise_copy(counter, plan);
  const Panels panels = split_columns(plan.out_c);
  const int64_t pixels = static_cast<int64_t>(plan.in_h) * plan.in_w;
  pool.run_with_worker(int64_t{plan.images} * panels.count, [&](int64_t task, int worker) {
    Workspace own(scratch_base + worker * counter.bytes());
    const DepthwiseCopy scratch = carve_depthwise_copy(own, plan);
    const int panel = static_cast<int>(task % panels.count);
    const int first = panel * panels.width;
    const int channels = std::min(panels.width, plan.out_c - first);
    float* image = y + task / panels.count * pixels * plan.out_c;
    for (int64_t i = 0; i < pixels; ++i) {
      std::copy_n(image + i * plan.out_c + first, channels, scratch.pixels + i * channels);
    }
    ConvPlan copied = plan;
    copied.in_c = channels;
    // Rows are read from the panel's first channel on.
    const float* from = scratch.pixels - first;
    for (int i = 0; i < plan.phases[0].rows; ++i) {
      run_depthwise_row(copied, plan.phases[0], tables.weights, tables.bias, scratch.taps, 0, i,
                        {panel, panel + 1}, from, image);
    }
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
