// Depthwise convolution and its adjoint, with channels in the vector lanes: a tile of neighbouring
// output pixels is summed in registers, reading the image in place and each of its pixels once for
// all taps of a row of the window. Included once per vector target.

#if defined(THIMBLE_SIMD_DEPTHWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_DEPTHWISE_INL_H_
#undef THIMBLE_SIMD_DEPTHWISE_INL_H_
#else
#define THIMBLE_SIMD_DEPTHWISE_INL_H_
#endif

#include <algorithm>

#include "exec/thread_pool.h"
#include "simd/depthwise.h"
#include "simd/pack-inl.h"
#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

inline constexpr int kDepthwisePixels = 8;  // of a whole tile

// One row of the output, for some of its channels.
struct DepthwiseRow {
  float* out;  // the row's first pixel
  const float* bias;
  const DepthwiseRun* runs;
  int run_count;
  ptrdiff_t pitch;              // of the weights, from one tap of a run to the next
  int in_w, in_c, column_step;  // of the image
  ptrdiff_t out_step;           // floats from one output column to the next
  int columns;
  int inside, outside;  // columns [inside, outside) have all their taps inside the image
  int first_channel, last_channel;
  Epilogue end;
};

// The weights of one run, or of three at once, for the channels of one vector.
template <int kRuns, int kTaps>
struct DepthwiseWeights {
  Vec of[kRuns][kTaps];
  HWY_INLINE void load(const DepthwiseRun* runs, ptrdiff_t pitch, int channel) {
    THIMBLE_UNROLL
    for (int run = 0; run < kRuns; ++run) {
      THIMBLE_UNROLL
      for (int t = 0; t < kTaps; ++t) {
        of[run][t] = hn::Load(F32(), runs[run].weights + t * pitch + channel);
      }
    }
  }
};

// What one run adds to kPixels neighbouring output pixels; see depthwise_tile().
template <int kTaps, int kStep, bool kChecked, int kPixels>
HWY_INLINE void add_run(Vec (&sums)[kPixels], const Vec (&weights)[kTaps], const DepthwiseRun& run,
                        const DepthwiseRow& row, int column, int channel, int count) {
  const F32 d;
  const ptrdiff_t pixel_step = row.in_c;
  const int first = column * row.column_step;
  const float* from = run.row + first * pixel_step + channel;
  const auto pixel = [&](int step) HWY_ATTR {
    const float* at = from + step * pixel_step;
    if constexpr (!kChecked) return hn::LoadU(d, at);
    const auto place = static_cast<unsigned>(first + run.column + step);
    return place < static_cast<unsigned>(row.in_w) ? load_first(at, count) : hn::Zero(d);
  };
  if constexpr (kTaps == 1) {
    THIMBLE_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      sums[i] = hn::MulAdd(weights[0], pixel(i * row.column_step), sums[i]);
    }
  } else {
    THIMBLE_UNROLL
    for (int j = 0; j < (kPixels - 1) * kStep + kTaps; ++j) {
      const Vec x = pixel(j);
      THIMBLE_UNROLL
      for (int t = 0; t < kTaps; ++t) {
        const int i = (j - t) / kStep;
        if (j < t || (j - t) % kStep != 0 || i >= kPixels) continue;
        sums[i] = hn::MulAdd(weights[t], x, sums[i]);
      }
    }
  }
}

// kPixels neighbouring output pixels of the channels of one vector. kRuns: 3 if the row has three
// runs, whose weights then are given, or 1: any number. kTaps: of each run; kStep: input columns
// from one output column to the next, a constant so that taps share what they read; of no meaning
// with one tap. kChecked: the tile may reach over the image's borders, where taps count as zero,
// and over the end of the output row, and the vector may be partial.
template <int kRuns, int kTaps, int kStep, bool kChecked, int kPixels>
HWY_INLINE void depthwise_tile(const DepthwiseRow& row, const DepthwiseWeights<kRuns, kTaps>& given,
                               int column, int channel, int count) {
  const F32 d;
  const Vec bias = hn::Load(d, row.bias + channel);
  Vec sums[kPixels];
  THIMBLE_UNROLL
  for (int i = 0; i < kPixels; ++i) sums[i] = bias;
  if constexpr (kRuns == 3) {
    THIMBLE_UNROLL
    for (int run = 0; run < kRuns; ++run) {
      add_run<kTaps, kStep, kChecked>(sums, given.of[run], row.runs[run], row, column, channel,
                                      count);
    }
  } else {
    for (int run = 0; run < row.run_count; ++run) {
      DepthwiseWeights<1, kTaps> weights;
      weights.load(row.runs + run, row.pitch, channel);
      add_run<kTaps, kStep, kChecked>(sums, weights.of[0], row.runs[run], row, column, channel,
                                      count);
    }
  }
  float* to = row.out + column * row.out_step + channel;
  if (!kChecked && !row.end.add_previous && row.end.activation == KERNEL_ACTIVATION_NONE) {
    THIMBLE_UNROLL
    for (int i = 0; i < kPixels; ++i) hn::StoreU(sums[i], d, to + i * row.out_step);
    return;
  }
  THIMBLE_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    if (kChecked && column + i >= row.columns) break;
    finish_vector(sums[i], to + i * row.out_step, count, 0, row.end);
  }
}

template <int kRuns, int kTaps, int kStep>
HWY_NOINLINE void depthwise_row(const DepthwiseRow& the_row) {
  constexpr int kHalf = kDepthwisePixels / 2;
  const DepthwiseRow row = the_row;  // a copy that no store can change
  for (int channel = row.first_channel; channel < row.last_channel; channel += lanes()) {
    const int count = std::min(lanes(), row.last_channel - channel);
    DepthwiseWeights<kRuns, kTaps> weights;
    if constexpr (kRuns == 3) weights.load(row.runs, row.pitch, channel);
    int column = 0;
    if (count < lanes()) {
      for (; column < row.columns; column += kDepthwisePixels) {
        depthwise_tile<kRuns, kTaps, kStep, true, kDepthwisePixels>(row, weights, column, channel,
                                                                    count);
      }
    }
    for (; column < row.inside; ++column) {
      depthwise_tile<kRuns, kTaps, kStep, true, 1>(row, weights, column, channel, count);
    }
    for (; column + kDepthwisePixels <= row.outside; column += kDepthwisePixels) {
      depthwise_tile<kRuns, kTaps, kStep, false, kDepthwisePixels>(row, weights, column, channel,
                                                                   lanes());
    }
    if (column + kHalf <= row.outside) {
      depthwise_tile<kRuns, kTaps, kStep, false, kHalf>(row, weights, column, channel, lanes());
      column += kHalf;
    }
    for (; column < row.columns; ++column) {
      depthwise_tile<kRuns, kTaps, kStep, true, 1>(row, weights, column, channel, count);
    }
  }
}

inline void depthwise_row(const DepthwiseRow& row, int taps) {
  const bool three_runs = row.run_count == 3;
  if (taps == 1) {
    depthwise_row<1, 1, 1>(row);
  } else if (taps == 2) {
    depthwise_row<1, 2, 1>(row);
  } else if (taps == 5) {
    depthwise_row<1, 5, 1>(row);
  } else if (row.column_step == 2) {
    three_runs ? depthwise_row<3, 3, 2>(row) : depthwise_row<1, 3, 2>(row);
  } else {
    three_runs ? depthwise_row<3, 3, 1>(row) : depthwise_row<1, 3, 1>(row);
  }
}

// How many taps of the phase make a run of neighbours: all of a window's row if depthwise_row()
// knows them, else each is a run.
inline int depthwise_run(const ConvPlan& plan, const ConvPhase& phase) {
  int length = 1;
  while (length < phase.tap_count && phase.taps[length].row == phase.taps[0].row) {
    if (phase.taps[length].column != phase.taps[length - 1].column + 1) return 1;
    ++length;
  }
  const bool known =
      plan.column_step == 1 ? length <= 3 || length == 5 : plan.column_step == 2 && length == 3;
  return known ? length : 1;
}

// Sets the output columns with 0 <= column * step + tap < width for every tap.
inline void find_inside_columns(const ConvPlan& plan, int taps, DepthwiseRow& row) {
  row.inside = 0;
  row.outside = row.columns;
  const int step = plan.column_step;
  for (int i = 0; i < row.run_count; ++i) {
    const int left = row.runs[i].column;
    const int right = left + taps - 1;
    if (left < 0) row.inside = std::max(row.inside, (-left + step - 1) / step);
    const int last = right >= plan.in_w ? 0 : (plan.in_w - 1 - right) / step + 1;
    row.outside = std::min(row.outside, last);
  }
  row.inside = std::min(row.inside, row.columns);
}

// Panels of channels [first, last).
struct DepthwisePanels {
  int first, last;
};

// Row i of a phase of one image.
inline void run_depthwise_row(const ConvPlan& plan, const ConvPhase& phase, const float* weights,
                              const float* bias, DepthwiseRun* runs, int image, int i,
                              const DepthwisePanels& part, const float* x, float* y) {
  const int64_t pitch = padded_channels(plan.out_c);
  const int taps = depthwise_run(plan, phase);
  const ptrdiff_t out_row = (static_cast<ptrdiff_t>(image) * plan.out_h + phase.row +
                             static_cast<ptrdiff_t>(i) * plan.out_row_step) *
                            plan.out_w;
  DepthwiseRow row{};
  row.out = y + (out_row + phase.column) * plan.out_c;
  row.bias = bias;
  row.runs = runs;
  row.pitch = pitch;
  row.in_w = plan.in_w, row.in_c = plan.in_c, row.column_step = plan.column_step;
  row.out_step = static_cast<ptrdiff_t>(plan.out_column_step) * plan.out_c;
  row.columns = phase.columns;
  row.end.activation = plan.activation;
  row.end.add_previous = plan.add_previous;
  for (int t = 0; t < phase.tap_count; t += taps) {
    const int h = i * plan.row_step + phase.taps[t].row;
    if (h < 0 || h >= plan.in_h) continue;
    const ptrdiff_t at =
        (static_cast<ptrdiff_t>(image) * plan.in_h + h) * plan.in_w + phase.taps[t].column;
    runs[row.run_count++] = {x + at * plan.in_c, weights + t * pitch, phase.taps[t].column};
  }
  find_inside_columns(plan, taps, row);
  const Panels panels = split_columns(plan.out_c);
  row.first_channel = part.first * panels.width;
  row.last_channel = std::min(part.last * panels.width, plan.out_c);
  depthwise_row(row, taps);
}

inline void fill_depthwise_tables(const ConvPlan& plan, const float* w, const float* bias,
                                  const DepthwiseTables& tables) {
  const int64_t pitch = padded_channels(plan.out_c);
  std::fill_n(tables.bias, pitch, 0.0f);
  if (bias) std::copy_n(bias, plan.out_c, tables.bias);
  float* to = tables.weights;
  for (int p = 0; p < plan.phase_count; ++p) {
    const ConvPhase& phase = plan.phases[p];
    for (int t = 0; t < phase.tap_count; ++t, to += pitch) {
      std::fill_n(to, pitch, 0.0f);
      for (int c = 0; c < plan.out_c; ++c) to[c] = w[c * plan.group_weights + phase.taps[t].weight];
    }
  }
}

// y, x, w, bias: see conv(); scratch_base: carve_depthwise_scratch() per thread.
inline void conv_depthwise(const ConvPlan& plan, float* y, const float* x, const float* w,
                           const float* bias, const DepthwiseTables& tables, char* scratch_base,
                           exec::ThreadPool& pool) {
  fill_depthwise_tables(plan, w, bias, tables);
  Workspace counter(nullptr);
  carve_depthwise_scratch(counter, plan);
  const int rows = depthwise_rows(plan);
  const int panels = split_columns(plan.out_c).count;
  // An input row serves several output rows: with few channels at a time it is still in the cache.
  const int64_t window_rows = plan.tap_rows.last - plan.tap_rows.first + 1;
  const bool panel_by_panel =
      plan.row_step == 1 && exceeds_first_cache(window_rows * plan.in_w * plan.in_c);
  const int together = panel_by_panel ? 1 : panels;
  const int64_t runs = divide_up(plan.phase_rows(), rows);
  pool.run_with_worker(plan.images * runs, [&](int64_t task, int worker) {
    Workspace own(scratch_base + worker * counter.bytes());
    DepthwiseRun* runs_of_row = carve_depthwise_scratch(own, plan);
    const int image = static_cast<int>(task / runs);
    const int first = static_cast<int>(task % runs) * rows;
    for (int panel = 0; panel < panels; panel += together) {
      const DepthwisePanels part{panel, std::min(panel + together, panels)};
      const float* weights = tables.weights;
      for (int p = 0; p < plan.phase_count; ++p) {
        const ConvPhase& phase = plan.phases[p];
        const int last = std::min(first + rows, phase.rows);
        for (int i = first; i < last; ++i) {
          run_depthwise_row(plan, phase, weights, tables.bias, runs_of_row, image, i, part, x, y);
        }
        weights += phase.tap_count * padded_channels(plan.out_c);
      }
    }
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
