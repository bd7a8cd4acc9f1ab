// Convolution that adds the products of every input pixel to the output pixels that they belong to,
// instead of gathering: no tap reads zeros around the input. A group of taps that read neighbouring
// pixels writes neighbouring pixels, whose channels fill the vector lanes. Included once per vector
// target.

#if defined(THIMBLE_SIMD_CONV_SCATTER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_CONV_SCATTER_INL_H_
#undef THIMBLE_SIMD_CONV_SCATTER_INL_H_
#else
#define THIMBLE_SIMD_CONV_SCATTER_INL_H_
#endif

#include <algorithm>

#include "parallel/thread_pool.h"
#include "simd/conv_scatter.h"
#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// Within a group the order is that of the output pixels, opposite to that of the input pixels.
inline void fill_scatter_weights(const ConvPlan& plan, const ConvWeights& w, float* to) {
  const int64_t pitch = scatter_pitch(plan);
  std::fill_n(to, plan.in_c * pitch, 0.0F);
  for (int t = 0; t < plan.tap_count; ++t) {
    const int group = t / plan.tap_group * plan.tap_group;
    const int place = group + plan.tap_group - 1 - (t - group);
    const ConvWeights from = w.from(plan.phases[0].taps[t].weight);
    for (int i = 0; i < plan.in_c; ++i) {
      for (int k = 0; k < plan.out_c; ++k) {
        to[i * pitch + static_cast<int64_t>(place) * plan.out_c + k] =
            from.at(k * plan.weight_out_step + i * plan.weight_in_step);
      }
    }
  }
}

// Adds the products of all pixels with the taps of a group. The rows of a tile are input rows, so
// that no two of them write one place.
inline void scatter_group(const ConvPlan& plan, int group, const float* weights, const float* x,
                          float* sums) {
  const ScatterColumns columns = scatter_columns(plan);
  const ConvTap* const taps = plan.phases[0].taps + group;
  const int shift = taps[0].row;
  const int left = columns.left - taps[plan.tap_group - 1].column;
  const int first_row = std::max(0, shift);
  const int end_row = std::min(plan.in_h, plan.out_h + shift);
  const ptrdiff_t in_pitch = static_cast<ptrdiff_t>(plan.in_w) * plan.in_c;
  const ptrdiff_t out_pitch = static_cast<ptrdiff_t>(columns.width) * plan.out_c;
  const int count = plan.tap_group * plan.out_c;
  const Panels panels = split_columns(count);
  const float* from[kMostTileRows];
  float* to[kMostTileRows];
  TileJob job{};
  job.a = from;
  job.a_step = 1;
  job.b_pitch = scatter_pitch(plan);
  job.segments = 1;
  job.depth = plan.in_c;
  job.out = to;
  job.end.add_previous = true;
  for (int column = 0; column < count; column += panels.width) {
    job.b = weights + static_cast<ptrdiff_t>(group) * plan.out_c + column;
    job.columns = std::min(panels.width, count - column);
    const int vectors = (job.columns + lanes() - 1) / lanes();
    const int most = tile_rows(vectors);
    for (int row = first_row; row < end_row; row += most) {
      job.rows = std::min(most, end_row - row);
      const TileFunction tile = tile_function(job.rows, vectors);
      for (int i = 0; i < kMostTileRows; ++i) {
        const int at = row + std::min(i, job.rows - 1);  // extra rows repeat the last one
        from[i] = x + at * in_pitch;
        to[i] =
            sums + (at - shift) * out_pitch + static_cast<ptrdiff_t>(left) * plan.out_c + column;
      }
      for (int q = 0; q < plan.in_w; ++q) {
        for (int i = 0; q > 0 && i < kMostTileRows; ++i) {
          from[i] += plan.in_c;
          to[i] += plan.out_c;
        }
        tile(job);
      }
    }
  }
}

// y = act(sums + bias (+ y)), of one image.
inline void finish_scatter(const ConvPlan& plan, const float* bias, const float* sums, float* y) {
  const ScatterColumns columns = scatter_columns(plan);
  Epilogue end;
  end.add_previous = plan.add_previous;
  end.activation = plan.activation;
  const F32 d;
  const int row_floats = plan.out_w * plan.out_c;
  for (int row = 0; row < plan.out_h; ++row, y += row_floats) {
    const float* const from =
        sums + (static_cast<ptrdiff_t>(row) * columns.width + columns.left) * plan.out_c;
    if (bias != nullptr) {
      for (int i = 0; i < row_floats; ++i) {
        const float sum = from[i] + bias[i % plan.out_c];
        y[i] = KERNEL_ACTIVATED(plan.activation, plan.add_previous ? sum + y[i] : sum);
      }
      continue;
    }
    int i = 0;
    for (; i + lanes() <= row_floats; i += lanes()) {
      finish_vector(hn::LoadU(d, from + i), y + i, lanes(), i, end);
    }
    const int rest = row_floats - i;
    if (rest > 0) finish_vector(load_first(from + i, rest), y + i, rest, i, end);
  }
}

// y, x, w, bias: see conv(). The workspace starts at base: the weights, then the sums of each
// thread.
inline void conv_scatter(const ConvPlan& plan, float* y, const float* x, const ConvWeights& w,
                         const float* bias, Workspace& workspace, char* base,
                         parallel::ThreadPool& pool) {
  float* const weights = carve_scatter_weights(workspace, plan);
  fill_scatter_weights(plan, w, weights);
  Workspace counter(nullptr);
  carve_scatter_sums(counter, plan);
  const ptrdiff_t in = static_cast<ptrdiff_t>(plan.in_h) * plan.in_w * plan.in_c;
  const ptrdiff_t out = static_cast<ptrdiff_t>(plan.out_h) * plan.out_w * plan.out_c;
  pool.run_with_worker(plan.images, [&](int64_t image, int worker) {
    Workspace own(base + workspace.used() + worker * counter.bytes());
    float* const sums = carve_scatter_sums(own, plan);
    std::fill_n(sums, scatter_sums(plan), 0.0F);
    for (int group = 0; group < plan.tap_count; group += plan.tap_group) {
      scatter_group(plan, group, weights, x + image * in, sums);
    }
    finish_scatter(plan, bias, sums, y + image * out);
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
