// Points are taken in blocks. What the points of a block read is computed with points in the vector
// lanes; then every point is computed with channels in the lanes. Each sum has one order, so that
// all vector targets give the same bits.

#include <hwy/highway.h>

#include <algorithm>

#include "ops/grid_sample/dims.h"
#include "parallel/thread_pool.h"
#include "simd/workspace.h"

#ifndef THIMBLE_OPS_GRID_SAMPLE_ONCE_
#define THIMBLE_OPS_GRID_SAMPLE_ONCE_
namespace thimble::ops::grid_sample_impl {

inline constexpr int kBlock = 32;  // points; a multiple of every target's lanes
inline constexpr int kMostReads = 16;

// The places and weights that a block of points reads along one axis, as grid_taps of the reference
// kernel.
struct AxisTaps {
  int count = 1;
  alignas(64) int32_t at[4][kBlock];
  alignas(64) float weight[4][kBlock];
  alignas(64) float slope[4][kBlock];
};

// The pixels that a block of points reads. at: their numbers in the image, below 0 outside of it.
// weight: of the pixel; for the gradient of the grid its derivative by each coordinate.
struct Reads {
  int count = 0;
  alignas(64) int32_t at[kMostReads][kBlock];
  alignas(64) float weight[3][kMostReads][kBlock];
};

inline int64_t pixels_of(const grid_sample_dims& d) { return int64_t{d.depth} * d.h * d.w; }
inline int64_t points_of(const grid_sample_dims& d) { return int64_t{d.o} * d.p * d.q; }

}  // namespace thimble::ops::grid_sample_impl
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::grid_sample_impl::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, kBlock>;
using I32 = hn::RebindToSigned<F32>;
using Vec = hn::Vec<F32>;

HWY_INLINE Vec set(float value) { return hn::Set(F32(), value); }

// Loads `count` channels; the other lanes hold whatever memory before `end` contains.
template <class D>
HWY_INLINE hn::Vec<D> load_some(D d, const float* from, int count, const float* end) {
  if (end - from >= static_cast<ptrdiff_t>(hn::Lanes(d))) return hn::LoadU(d, from);
  alignas(64) float all[hn::MaxLanes(D())] = {};
  std::copy(from, from + count, all);
  return hn::Load(d, all);
}

// Channels of a pixel. kWhole: behind it lies memory for a whole vector.
template <bool kWhole, class D>
HWY_INLINE hn::Vec<D> load_pixel(D d, const float* from, int count, const float* end) {
  if constexpr (kWhole) return hn::LoadU(d, from);
  return load_some(d, from, count, end);
}

// Stores `count` channels and may overwrite what follows up to `end`.
template <class D>
HWY_INLINE void store_some(hn::Vec<D> v, D d, float* to, int count, const float* end) {
  if (end - to >= static_cast<ptrdiff_t>(hn::Lanes(d))) {
    hn::StoreU(v, d, to);
    return;
  }
  alignas(64) float all[hn::MaxLanes(D())];
  hn::Store(v, d, all);
  std::copy(all, all + count, to);
}

// The functions up to read_axis are those of the reference kernel, operation by operation.
HWY_INLINE Vec reflected(Vec x, int twice_low, int twice_high, Vec& sign) {
  const F32 d;
  const float low = static_cast<float>(twice_low) / 2;
  const float span = static_cast<float>(twice_high - twice_low) / 2;
  if (span <= 0) {
    sign = hn::Zero(d);
    return sign;
  }
  x = hn::Sub(x, set(low));
  sign = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Neg(sign), sign);
  x = hn::Abs(x);
  const Vec flips = hn::Floor(hn::Div(x, set(span)));
  const Vec rest = hn::Sub(x, hn::Mul(flips, set(span)));
  const Vec pairs = hn::Mul(hn::Floor(hn::Mul(flips, set(0.5F))), set(2));
  const auto even = hn::Eq(flips, pairs);
  sign = hn::IfThenElse(even, sign, hn::Neg(sign));
  return hn::Add(hn::IfThenElse(even, rest, hn::Sub(set(span), rest)), set(low));
}

HWY_INLINE Vec brought_inside(Vec x, int size, Vec& sign, const grid_sample_dims& d) {
  if (d.padding == GRID_ZEROS) return x;
  if (d.padding == GRID_REFLECTION) {
    x = d.align_corners ? reflected(x, 0, 2 * (size - 1), sign)
                        : reflected(x, -1, 2 * size - 1, sign);
  }
  const Vec last = set(static_cast<float>(size - 1));
  const auto low = hn::Le(x, hn::Zero(F32()));
  const auto high = hn::Ge(x, last);
  sign = hn::IfThenZeroElse(hn::Or(low, high), sign);
  return hn::IfThenZeroElse(low, hn::IfThenElse(high, last, x));
}

HWY_INLINE void store_pixel(int32_t* to, Vec x, int size) {
  const I32 di;
  const auto found = hn::And(hn::Ge(x, hn::Zero(F32())), hn::Lt(x, set(static_cast<float>(size))));
  hn::Store(hn::IfThenElse(hn::RebindMask(di, found), hn::ConvertTo(di, x), hn::Set(di, -1)), di,
            to);
}

HWY_INLINE Vec near_weight(Vec x) {
  const Vec line = hn::Sub(hn::Mul(set(1.25F), x), set(2.25F));
  return hn::Add(hn::Mul(hn::Mul(line, x), x), set(1));
}
HWY_INLINE Vec far_weight(Vec x) {
  const Vec line = hn::Add(hn::Mul(set(-0.75F), x), set(3.75F));
  return hn::Add(hn::Mul(hn::Sub(hn::Mul(line, x), set(6)), x), set(3));
}
HWY_INLINE Vec near_slope(Vec x) { return hn::Mul(hn::Sub(hn::Mul(set(3.75F), x), set(4.5F)), x); }
HWY_INLINE Vec far_slope(Vec x) {
  return hn::Sub(hn::Mul(hn::Add(hn::Mul(set(-2.25F), x), set(7.5F)), x), set(6));
}

HWY_INLINE void read_cubic(AxisTaps& t, int i, Vec x, Vec scale, int size,
                           const grid_sample_dims& d) {
  const F32 df;
  const Vec first = hn::Floor(x);
  const Vec part = hn::Sub(x, first);
  const Vec rest = hn::Sub(set(1), part);
  const Vec before = hn::Add(part, set(1));
  const Vec after = hn::Sub(set(2), part);
  hn::Store(far_weight(before), df, t.weight[0] + i);
  hn::Store(near_weight(part), df, t.weight[1] + i);
  hn::Store(near_weight(rest), df, t.weight[2] + i);
  hn::Store(far_weight(after), df, t.weight[3] + i);
  hn::Store(hn::Mul(far_slope(before), scale), df, t.slope[0] + i);
  hn::Store(hn::Mul(near_slope(part), scale), df, t.slope[1] + i);
  hn::Store(hn::Mul(hn::Neg(near_slope(rest)), scale), df, t.slope[2] + i);
  hn::Store(hn::Mul(hn::Neg(far_slope(after)), scale), df, t.slope[3] + i);
  for (int tap = 0; tap < 4; ++tap) {
    Vec sign = set(1);
    const Vec at = hn::Add(hn::Sub(first, set(1)), set(static_cast<float>(tap)));
    store_pixel(t.at[tap] + i, brought_inside(at, size, sign, d), size);
  }
}

// points: kBlock coordinates of the grid along an axis of `size` pixels.
void read_axis(AxisTaps& t, const float* points, int size, const grid_sample_dims& d) {
  const F32 df;
  const float half = static_cast<float>(d.align_corners ? size - 1 : size) / 2;
  const Vec scale = set(half);
  t.count = d.mode == GRID_BICUBIC ? 4 : d.mode == GRID_NEAREST ? 1 : 2;
  for (int i = 0; i < kBlock; i += static_cast<int>(hn::Lanes(df))) {
    const Vec from_edge = hn::Add(hn::Load(df, points + i), set(1));
    Vec x = d.align_corners
                ? hn::Mul(from_edge, scale)
                : hn::Mul(hn::Sub(hn::Mul(from_edge, set(static_cast<float>(size))), set(1)),
                          set(0.5F));
    const Vec far = set(1e30F);
    x = hn::IfThenElse(hn::Gt(x, hn::Neg(far)), x, hn::Neg(far));
    x = hn::IfThenElse(hn::Gt(x, far), far, x);
    if (d.mode == GRID_BICUBIC) {
      read_cubic(t, i, x, scale, size, d);
      continue;
    }
    Vec sign = set(1);
    x = brought_inside(x, size, sign, d);
    if (d.mode == GRID_NEAREST) {
      store_pixel(t.at[0] + i, hn::Round(x), size);
      hn::Store(set(1), df, t.weight[0] + i);
      hn::Store(hn::Zero(df), df, t.slope[0] + i);
      continue;
    }
    const Vec first = hn::Floor(x);
    const Vec part = hn::Sub(x, first);
    const Vec slope = hn::Mul(sign, scale);
    store_pixel(t.at[0] + i, first, size);
    store_pixel(t.at[1] + i, hn::Add(first, set(1)), size);
    hn::Store(hn::Sub(set(1), part), df, t.weight[0] + i);
    hn::Store(part, df, t.weight[1] + i);
    hn::Store(hn::Neg(slope), df, t.slope[0] + i);
    hn::Store(slope, df, t.slope[1] + i);
  }
}

HWY_INLINE Vec product(const float* deep, const float* down, const float* across, int i) {
  const F32 d;
  return hn::Mul(hn::Mul(hn::Load(d, deep + i), hn::Load(d, down + i)), hn::Load(d, across + i));
}

// One pixel of every point of the block, number `to` of its reads.
template <bool kSlopes>
void read_pixel(Reads& reads, int to, const AxisTaps (&axes)[3], int k, int i, int j,
                const grid_sample_dims& d) {
  const F32 df;
  const I32 di;
  const auto& [across, down, deep] = axes;
  for (int at = 0; at < kBlock; at += static_cast<int>(hn::Lanes(df))) {
    const auto plane = hn::Load(di, deep.at[k] + at);
    const auto row = hn::Load(di, down.at[i] + at);
    const auto column = hn::Load(di, across.at[j] + at);
    const auto rows = hn::Add(hn::Mul(plane, hn::Set(di, d.h)), row);
    const auto pixel = hn::Add(hn::Mul(rows, hn::Set(di, d.w)), column);
    const auto outside = hn::Lt(hn::Or(hn::Or(plane, row), column), hn::Zero(di));
    hn::Store(hn::IfThenElse(outside, hn::Set(di, -1), pixel), di, reads.at[to] + at);
    const float* const weights[3] = {deep.weight[k], down.weight[i], across.weight[j]};
    if constexpr (kSlopes) {
      hn::Store(product(weights[0], weights[1], across.slope[j], at), df, reads.weight[0][to] + at);
      hn::Store(product(weights[0], down.slope[i], weights[2], at), df, reads.weight[1][to] + at);
      hn::Store(product(deep.slope[k], weights[1], weights[2], at), df, reads.weight[2][to] + at);
    } else {
      hn::Store(product(weights[0], weights[1], weights[2], at), df, reads.weight[0][to] + at);
    }
  }
}

// Sets `reads` to the places and weights that the points of a block read; count: its points, at
// most kBlock. grid: [count, axes].
template <bool kSlopes>
void read_block(Reads& reads, const float* grid, int count, const grid_sample_dims& d) {
  AxisTaps axes[3];
  alignas(64) float points[kBlock];
  const int sizes[3] = {d.w, d.h, d.depth};
  for (int axis = 0; axis < 3; ++axis) {
    if (axis == d.axes) {
      std::fill_n(axes[2].at[0], kBlock, 0);
      std::fill_n(axes[2].weight[0], kBlock, 1.0F);
      std::fill_n(axes[2].slope[0], kBlock, 0.0F);
      break;
    }
    for (int i = 0; i < count; ++i) points[i] = grid[i * d.axes + axis];
    std::fill(points + count, points + kBlock, 0.0F);
    read_axis(axes[axis], points, sizes[axis], d);
  }
  reads.count = 0;
  for (int k = 0; k < axes[2].count; ++k) {
    for (int i = 0; i < axes[1].count; ++i) {
      for (int j = 0; j < axes[0].count; ++j) {
        read_pixel<kSlopes>(reads, reads.count++, axes, k, i, j, d);
      }
    }
  }
}

// x: the image, x_end: the end of all images; y: [count, c].
template <bool kWhole, class D>
void sample_points(D tag, float* y, const float* x, const float* x_end, const Reads& reads,
                   int count, int channels) {
  const int lanes = static_cast<int>(hn::Lanes(tag));
  const float* const y_end = y + ptrdiff_t{count} * channels;
  for (int point = 0; point < count; ++point, y += channels) {
    for (int c = 0; c < channels; c += lanes) {
      const int some = std::min(lanes, channels - c);
      auto sum = hn::Zero(tag);
      for (int i = 0; i < reads.count; ++i) {
        const int32_t at = reads.at[i][point];
        if (at < 0) continue;
        const float* const from = x + ptrdiff_t{at} * channels + c;
        const auto pixel = load_pixel<kWhole>(tag, from, some, x_end);
        sum = hn::Add(sum, hn::Mul(hn::Set(tag, reads.weight[0][i][point]), pixel));
      }
      store_some(sum, tag, y + c, some, y_end);
    }
  }
}

// Whether four more values lie behind image x.
HWY_INLINE bool is_followed(const float* x, const float* x_end, const grid_sample_dims& d) {
  return x_end - x >= pixels_of(d) * d.c + 4;
}

// The points [begin, end) of image n.
void sample_target(float* y, const float* x, const float* grid, int64_t n, int64_t begin,
                   int64_t end, const grid_sample_dims& d) {
  const float* const x_end = x + d.n * pixels_of(d) * d.c;
  grid += (n * points_of(d) + begin) * d.axes;
  y += (n * points_of(d) + begin) * d.c;
  x += n * pixels_of(d) * d.c;
  Reads reads;
  while (begin < end) {
    const int count = static_cast<int>(std::min<int64_t>(kBlock, end - begin));
    read_block<false>(reads, grid, count, d);
    if (d.c <= 4) {
      const hn::CappedTag<float, 4> few;
      if (is_followed(x, x_end, d)) {
        sample_points<true>(few, y, x, x_end, reads, count, d.c);
      } else {
        sample_points<false>(few, y, x, x_end, reads, count, d.c);
      }
    } else {
      sample_points<false>(hn::ScalableTag<float>(), y, x, x_end, reads, count, d.c);
    }
    begin += count;
    grid += ptrdiff_t{count} * d.axes;
    y += ptrdiff_t{count} * d.c;
  }
}

template <class D>
HWY_INLINE int add_product(D tag, float* to, const float* from, float weight, int c, int end) {
  const int lanes = static_cast<int>(hn::Lanes(tag));
  const auto factor = hn::Set(tag, weight);
  for (; c + lanes <= end; c += lanes) {
    const auto part = hn::Mul(factor, hn::LoadU(tag, from + c));
    hn::StoreU(hn::Add(hn::LoadU(tag, to + c), part), tag, to + c);
  }
  return c;
}

// dx: an image, dy: [count, c], both moved on to the first of at most three channels. What points
// read outside of the image goes to a place that nobody reads, without a branch.
void add_few_channels(float* dx, const float* dy, const Reads& reads, int count, int channels,
                      int c) {
  float nowhere[3] = {};
  for (int point = 0; point < count; ++point, dy += c) {
    for (int i = 0; i < reads.count; ++i) {
      const int32_t at = reads.at[i][point];
      const float weight = reads.weight[0][i][point];
      float* const to = at < 0 ? nowhere : dx + ptrdiff_t{at} * c;
      for (int k = 0; k < channels; ++k) to[k] += weight * dy[k];
    }
  }
}

// Channels [begin, end) of the gradient of image n.
void input_grad_target(float* dx, const float* dy, const float* grid, int64_t n, int begin, int end,
                       const grid_sample_dims& d) {
  const int64_t points = points_of(d);
  grid += n * points * d.axes;
  dy += n * points * d.c;
  dx += n * pixels_of(d) * d.c;
  for (int64_t pixel = 0; pixel < pixels_of(d); ++pixel) {
    std::fill(dx + pixel * d.c + begin, dx + pixel * d.c + end, 0.0F);
  }
  Reads reads;
  for (int64_t first = 0; first < points; first += kBlock) {
    const int count = static_cast<int>(std::min<int64_t>(kBlock, points - first));
    read_block<false>(reads, grid + first * d.axes, count, d);
    if (end - begin < 4) {
      add_few_channels(dx + begin, dy + first * d.c + begin, reads, count, end - begin, d.c);
      continue;
    }
    for (int point = 0; point < count; ++point) {
      const float* const from = dy + (first + point) * d.c;
      for (int i = 0; i < reads.count; ++i) {
        const int32_t at = reads.at[i][point];
        if (at < 0) continue;
        const float weight = reads.weight[0][i][point];
        float* const to = dx + ptrdiff_t{at} * d.c;
        int c = add_product(hn::ScalableTag<float>(), to, from, weight, begin, end);
        c = add_product(hn::CappedTag<float, 4>(), to, from, weight, c, end);
        for (; c < end; ++c) to[c] += weight * from[c];
      }
    }
  }
}

// The sum of kWidth partial sums, halved again and again.
template <int kWidth, class V>
HWY_INLINE float sum_of(const V* partial) {
  const hn::CappedTag<float, kWidth> tag;
  alignas(64) float all[kWidth];
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(tag));
  for (int v = 0; v < kWidth / kLanes; ++v) hn::Store(partial[v], tag, all + v * kLanes);
  for (int half = kWidth / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) all[i] += all[i + half];
  }
  return all[0];
}

// dgrid: [count, kAxes]; dy: [count, c], dy_end: the end of all of it; x, x_end: as above. Products
// are summed in kWidth partial sums whatever the target's lanes.
template <bool kWhole, int kWidth, int kAxes>
void slope_points(float* dgrid, const float* dy, const float* dy_end, const float* x,
                  const float* x_end, const Reads& reads, int count, int channels) {
  const hn::CappedTag<float, kWidth> tag;
  using V = hn::Vec<hn::CappedTag<float, kWidth>>;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(tag));
  constexpr int kVectors = kWidth / kLanes;
  for (int point = 0; point < count; ++point, dgrid += kAxes, dy += channels) {
    V sums[kAxes][kVectors];
    for (auto& of_axis : sums) {
      for (V& sum : of_axis) sum = hn::Zero(tag);
    }
    for (int group = 0; group < channels; group += kWidth) {
      for (int v = 0; v < kVectors && group + v * kLanes < channels; ++v) {
        const int c = group + v * kLanes;
        const int some = std::min(kLanes, channels - c);
        V slopes[kAxes];
        for (V& slope : slopes) slope = hn::Zero(tag);
        for (int i = 0; i < reads.count; ++i) {
          const int32_t at = reads.at[i][point];
          if (at < 0) continue;
          const float* const place = x + ptrdiff_t{at} * channels + c;
          const V pixel = load_pixel<kWhole>(tag, place, some, x_end);
          for (int a = 0; a < kAxes; ++a) {
            slopes[a] = hn::MulAdd(hn::Set(tag, reads.weight[a][i][point]), pixel, slopes[a]);
          }
        }
        const V from = load_some(tag, dy + c, some, dy_end);
        const auto present = hn::FirstN(tag, static_cast<size_t>(some));
        for (int a = 0; a < kAxes; ++a) {
          const V part = hn::IfThenElseZero(present, hn::Mul(from, slopes[a]));
          sums[a][v] = hn::Add(sums[a][v], part);
        }
      }
    }
    for (int a = 0; a < kAxes; ++a) dgrid[a] = sum_of<kWidth>(sums[a]);
  }
}

// The points [begin, end) of image n.
void grid_grad_target(float* dgrid, const float* dy, const float* x, const float* grid, int64_t n,
                      int64_t begin, int64_t end, const grid_sample_dims& d) {
  const float* const x_end = x + d.n * pixels_of(d) * d.c;
  const float* const dy_end = dy + d.n * points_of(d) * d.c;
  grid += (n * points_of(d) + begin) * d.axes;
  dgrid += (n * points_of(d) + begin) * d.axes;
  dy += (n * points_of(d) + begin) * d.c;
  x += n * pixels_of(d) * d.c;
  const auto slopes = d.c > 4
                          ? (d.axes == 3 ? slope_points<false, 16, 3> : slope_points<false, 16, 2>)
                      : is_followed(x, x_end, d)
                          ? (d.axes == 3 ? slope_points<true, 4, 3> : slope_points<true, 4, 2>)
                          : (d.axes == 3 ? slope_points<false, 4, 3> : slope_points<false, 4, 2>);
  Reads reads;
  while (begin < end) {
    const int count = static_cast<int>(std::min<int64_t>(kBlock, end - begin));
    read_block<true>(reads, grid, count, d);
    slopes(dgrid, dy, dy_end, x, x_end, reads, count, d.c);
    begin += count;
    grid += ptrdiff_t{count} * d.axes;
    dgrid += ptrdiff_t{count} * d.axes;
    dy += ptrdiff_t{count} * d.c;
  }
}

}  // namespace thimble::ops::grid_sample_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::grid_sample_impl {
HWY_EXPORT(sample_target);
HWY_EXPORT(input_grad_target);
HWY_EXPORT(grid_grad_target);

namespace {

// Calls part(n, begin, end) for ranges of the points of every image.
template <class Part>
void for_each_range(const grid_sample_dims& d, parallel::ThreadPool& pool, const Part& part) {
  constexpr int64_t kTaskValues = 1 << 15;
  const int64_t blocks = std::max<int64_t>(1, kTaskValues / (int64_t{kBlock} * (d.c + 16)));
  const int64_t each = blocks * kBlock;
  const int64_t ranges = simd::divide_up(points_of(d), each);
  pool.run(d.n * ranges, [&](int64_t task) {
    const int64_t begin = task % ranges * each;
    part(task / ranges, begin, std::min(points_of(d), begin + each));
  });
}

}  // namespace

void grid_sample_simd(float* y, const float* x, const float* grid, const grid_sample_dims* d,
                      parallel::ThreadPool& pool) {
  for_each_range(*d, pool, [&](int64_t n, int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(sample_target)(y, x, grid, n, begin, end, *d);
  });
}

void grid_sample_input_grad_simd(float* dx, const float* dy, const float* grid,
                                 const grid_sample_dims* d, parallel::ThreadPool& pool) {
  constexpr int kChannels = 32;
  const int parts = static_cast<int>(simd::divide_up(d->c, kChannels));
  pool.run(int64_t{d->n} * parts, [&](int64_t task) {
    const int begin = static_cast<int>(task % parts) * kChannels;
    const int end = std::min(d->c, begin + kChannels);
    HWY_DYNAMIC_DISPATCH(input_grad_target)(dx, dy, grid, task / parts, begin, end, *d);
  });
}

void grid_sample_grid_grad_simd(float* dgrid, const float* dy, const float* x, const float* grid,
                                const grid_sample_dims* d, parallel::ThreadPool& pool) {
  for_each_range(*d, pool, [&](int64_t n, int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(grid_grad_target)(dgrid, dy, x, grid, n, begin, end, *d);
  });
}

}  // namespace thimble::ops::grid_sample_impl
#endif
