// Weight gradient of images with few channels. x and dy are split into planes (planar.h); each
// weight's gradient is the dot product of one plane of dy and one shifted plane of x, with pixels
// in the vector lanes. Included once per vector target.

#if defined(THIMBLE_SIMD_PLANAR_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_PLANAR_WEIGHTS_INL_H_
#undef THIMBLE_SIMD_PLANAR_WEIGHTS_INL_H_
#else
#define THIMBLE_SIMD_PLANAR_WEIGHTS_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "parallel/thread_pool.h"
#include "simd/planar-inl.h"
#include "simd/planar_weights.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

#if THIMBLE_MANY_REGISTERS
inline constexpr int kDotRows = 4;
inline constexpr int kDotColumns = 6;
#else
inline constexpr int kDotRows = 2;
inline constexpr int kDotColumns = 4;
#endif

#if HWY_TARGET != HWY_SCALAR
// Reduces a vector to four lanes with the same sum.
template <class V>
HWY_INLINE auto fold_to_four(V v) {
  using D = hn::DFromV<V>;
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return fold_to_four(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

// totals[j] = the sum of the lanes of sums[j].
template <int kCount>
HWY_INLINE void sum_lanes(const Vec (&sums)[kCount], float* totals) {
  int j = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> d;
  THIMBLE_UNROLL
  for (; j + 4 <= kCount; j += 4) {
    const auto a = fold_to_four(sums[j]);
    const auto b = fold_to_four(sums[j + 1]);
    const auto c = fold_to_four(sums[j + 2]);
    const auto e = fold_to_four(sums[j + 3]);
    const auto ac = hn::Add(hn::InterleaveLower(d, a, c), hn::InterleaveUpper(d, a, c));
    const auto be = hn::Add(hn::InterleaveLower(d, b, e), hn::InterleaveUpper(d, b, e));
    const auto all = hn::Add(hn::InterleaveLower(d, ac, be), hn::InterleaveUpper(d, ac, be));
    hn::StoreU(all, d, totals + j);
  }
#endif
  THIMBLE_UNROLL
  for (; j < kCount; ++j) totals[j] = hn::GetLane(hn::SumOfLanes(F32(), sums[j]));
}

// sums[i * pitch + j] += dot(a[i], b[j]) over the shape's runs, each rounded up to whole vectors.
struct DotTile {
  const float* a[kDotRows];
  const float* b[kDotColumns];
  float* sums;
  ptrdiff_t pitch;
  int rows, columns;  // rows and columns to store
};

template <int kRows>
HWY_NOINLINE void dot_tile(const DotTile& tile, const PlanarShape& shape) {
  const F32 d;
  Vec sums[kRows][kDotColumns];
  const float* a[kRows];
  const float* b[kDotColumns];
  THIMBLE_UNROLL
  for (int i = 0; i < kRows; ++i) {
    a[i] = tile.a[i];
    THIMBLE_UNROLL
    for (int j = 0; j < kDotColumns; ++j) sums[i][j] = hn::Zero(d);
  }
  THIMBLE_UNROLL
  for (int j = 0; j < kDotColumns; ++j) b[j] = tile.b[j];
  for (int run = 0; run < shape.runs; ++run) {
    const int64_t end = run * shape.run_pitch + shape.run_length;
    for (int64_t at = run * shape.run_pitch; at < end; at += lanes()) {
      Vec rows[kRows];
      THIMBLE_UNROLL
      for (int i = 0; i < kRows; ++i) rows[i] = hn::LoadU(d, a[i] + at);
      THIMBLE_UNROLL
      for (int j = 0; j < kDotColumns; ++j) {
        const Vec column = hn::LoadU(d, b[j] + at);
        THIMBLE_UNROLL
        for (int i = 0; i < kRows; ++i) sums[i][j] = hn::MulAdd(rows[i], column, sums[i][j]);
      }
    }
  }
  for (int i = 0; i < kRows; ++i) {
    float totals[kDotColumns];
    sum_lanes(sums[i], totals);
    float* to = tile.sums + i * tile.pitch;
    for (int j = 0; j < tile.columns; ++j) to[j] += totals[j];
  }
}

// Loads planes of dy: [output channel, image, plane row, pitch]; positions that are no valid result
// are zero.
inline void load_grads(const ConvPlan& plan, const PlanarShape& shape, const PlanarTask& task,
                       const float* dy, float* grads) {
  std::memset(grads, 0, static_cast<size_t>(plan.group_out * shape.out_floats) * sizeof(float));
  for (int b = 0; b < task.images; ++b) {
    for (int i = 0; i < task.rows; ++i) {
      const ptrdiff_t row =
          (static_cast<ptrdiff_t>(task.image + b) * plan.out_h + task.row + i) * plan.out_w +
          task.column;
      transpose_copy(grads + (static_cast<ptrdiff_t>(b) * shape.plane_rows + i) * shape.pitch,
                     shape.out_floats, dy + row * plan.out_c + task.group * plan.group_out,
                     plan.out_c, task.columns, plan.group_out);
    }
  }
}

// Adds the dot products of the planes to dw: [output channel, entries].
inline void add_dots(const ConvPlan& plan, const PlanarShape& shape,
                     const PlanarWeightScratch& scratch, const int32_t* offsets, float* dw) {
  const int entries = plan.tap_count * plan.group_in;
  DotTile tile{};
  tile.pitch = entries;
  for (int e = 0; e < entries; e += kDotColumns) {
    tile.columns = std::min(kDotColumns, entries - e);
    for (int j = 0; j < kDotColumns; ++j) {
      tile.b[j] = scratch.planes + offsets[e + std::min(j, tile.columns - 1)];
    }
    for (int k = 0; k < plan.group_out; k += tile.rows) {
      const int left = plan.group_out - k;
      tile.rows = left >= kDotRows ? kDotRows : left >= 2 ? 2 : 1;
      for (int i = 0; i < tile.rows; ++i) tile.a[i] = scratch.grads + (k + i) * shape.out_floats;
      tile.sums = dw + static_cast<ptrdiff_t>(k) * entries + e;
      if (tile.rows == 1) {
        dot_tile<1>(tile, shape);
      } else if (tile.rows == 2) {
        dot_tile<2>(tile, shape);
      } else {
        dot_tile<kDotRows>(tile, shape);
      }
    }
  }
}

// plan: of the forward convolution; copies: its plan_loads(); offsets: [tap, input channel], filled
// here; partial_sums: partials - 1 whole gradients; scratch_base: carve_planar_weight_scratch() per
// thread.
inline void conv_weights_planar(float* dw, const float* x, const float* dy, float* partial_sums,
                                const conv_dims& d, const ConvPlan& plan, const PlanarShape& shape,
                                const PlanarCopies& copies, int32_t* offsets, char* scratch_base,
                                parallel::ThreadPool& pool) {
  int32_t* offset = offsets;
  for (int t = 0; t < plan.tap_count; ++t) {
    for (int c = 0; c < plan.group_in; ++c) {
      *offset++ = static_cast<int32_t>(shape.offset(plan, plan.phases[0].taps[t], c));
    }
  }
  const PlanarWeightSplit split = split_planar_weights(d, shape);
  const int64_t per_group = shape.tasks();
  const ptrdiff_t group_weights = conv_weight_count(d) / d.groups;
  Workspace counter(nullptr);
  carve_planar_weight_scratch(counter, plan, shape);
  pool.run_with_worker(int64_t{split.partials} * d.groups, [&](int64_t task, int worker) {
    Workspace own(scratch_base + worker * counter.bytes());
    const PlanarWeightScratch scratch = carve_planar_weight_scratch(own, plan, shape);
    const int64_t partial = task / d.groups;
    const int64_t group = task % d.groups;
    float* sums = (partial == 0 ? dw : partial_sums + (partial - 1) * conv_weight_count(d)) +
                  group * group_weights;
    if (partial > 0 || !d.accumulate) std::fill_n(sums, group_weights, 0.0f);
    const int64_t last = std::min(per_group, (partial + 1) * split.tasks);
    for (int64_t t = partial * split.tasks; t < last; ++t) {
      const PlanarTask part = planar_task(plan, shape, group * per_group + t);
      load_planes(plan, shape, copies, part, x, scratch.planes);
      load_grads(plan, shape, part, dy, scratch.grads);
      add_dots(plan, shape, scratch, offsets, sums);
    }
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
