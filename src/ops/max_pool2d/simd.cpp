// Channels lie in the vector lanes; a row of the result is a unit of work.

#include "ops/max_pool2d/simd.h"

#include "ops/common/row_tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/max_pool2d/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

using I32 = hn::RebindToSigned<F32>;
using U8 = hn::Rebind<uint8_t, I32>;
using Places = hn::Vec<I32>;

// The places of `count` maxima from number `at` on; lanes after them hold anything.
HWY_INLINE Places load_places(const uint8_t* index, ptrdiff_t at, int count, bool wide) {
  if (wide) {
    const auto* from = static_cast<const int32_t*>(static_cast<const void*>(index)) + at;
    if (count == lanes()) return hn::LoadU(I32(), from);
    alignas(64) int32_t all[HWY_LANES(float)] = {};
    std::copy(from, from + count, all);
    return hn::Load(I32(), all);
  }
  if (count == lanes()) return hn::PromoteTo(I32(), hn::LoadU(U8(), index + at));
  alignas(64) uint8_t all[HWY_LANES(float)] = {};
  std::copy(index + at, index + at + count, all);
  return hn::PromoteTo(I32(), hn::Load(U8(), all));
}

HWY_INLINE void store_places(Places places, uint8_t* index, ptrdiff_t at, int count, bool wide) {
  if (wide) {
    auto* to = static_cast<int32_t*>(static_cast<void*>(index)) + at;
    alignas(64) int32_t all[HWY_LANES(float)];
    hn::Store(places, I32(), all);
    std::copy(all, all + count, to);
    return;
  }
  alignas(64) uint8_t all[HWY_LANES(float)];
  hn::Store(hn::DemoteTo(U8(), places), U8(), all);
  std::copy(all, all + count, index + at);
}

// One vector of channels of one window. image: [h, w, c], moved on to those channels.
HWY_INLINE Vec window_max(const float* image, pool_range rows, pool_range columns, int first_place,
                          const pool_dims& d, int count, Places& places) {
  const I32 di;
  const ptrdiff_t pitch = static_cast<ptrdiff_t>(d.w) * d.c;
  Vec best = load(image + rows.begin * pitch + static_cast<ptrdiff_t>(columns.begin) * d.c, count);
  places = hn::Set(di, first_place);
  for (int row = rows.begin; row < rows.end; ++row) {
    int place = first_place + (row - rows.begin) * d.s;
    const float* cell = image + row * pitch + static_cast<ptrdiff_t>(columns.begin) * d.c;
    for (int column = columns.begin; column < columns.end; ++column, ++place, cell += d.c) {
      const Vec value = load(cell, count);
      const auto larger = hn::Or(hn::Gt(value, best), hn::IsNaN(value));
      best = hn::IfThenElse(larger, value, best);
      places = hn::IfThenElse(hn::RebindMask(di, larger), hn::Set(di, place), places);
    }
  }
  return best;
}

// y, index: the whole results; row: n * p_size + p.
template <bool kIndex>
void pool_row(float* y, uint8_t* index, const float* x, int64_t row, const pool_dims& d) {
  const int p = static_cast<int>(row % d.p);
  const float* image = x + static_cast<ptrdiff_t>(row / d.p) * d.h * d.w * d.c;
  const pool_range rows = pool_cells(p, d.stride_h, d.pad_top, d.r, d.h);
  ptrdiff_t out = static_cast<ptrdiff_t>(row) * d.q * d.c;
  for (int q = 0; q < d.q; ++q) {
    const pool_range columns = pool_cells(q, d.stride_w, d.pad_left, d.s, d.w);
    const int first_place = (rows.begin - p * d.stride_h + d.pad_top) * d.s +
                            (columns.begin - q * d.stride_w + d.pad_left);
    for (int c = 0; c < d.c; c += lanes()) {
      const int count = std::min(lanes(), d.c - c);
      Places places;
      store(window_max(image + c, rows, columns, first_place, d, count, places), y + out, count);
      if (kIndex) store_places(places, index, out, count, d.wide_index != 0);
      out += count;
    }
  }
}

// dx: the whole result; row: n * h_size + h.
void grad_row(float* dx, const float* dy, const uint8_t* index, int64_t row, const pool_dims& d) {
  const I32 di;
  const int h = static_cast<int>(row % d.h);
  const ptrdiff_t image = static_cast<ptrdiff_t>(row / d.h) * d.p * d.q * d.c;
  const pool_range rows = pool_windows({0, 0}, h, d.stride_h, d.pad_top, d.r, d.p);
  float* out = dx + static_cast<ptrdiff_t>(row) * d.w * d.c;
  pool_range columns = {0, 0};
  for (int w = 0; w < d.w; ++w) {
    columns = pool_windows(columns, w, d.stride_w, d.pad_left, d.s, d.q);
    for (int c = 0; c < d.c; c += lanes()) {
      const int count = std::min(lanes(), d.c - c);
      Vec sum = hn::Zero(F32());
      for (int p = rows.begin; p < rows.end; ++p) {
        const int place_row = (h - p * d.stride_h + d.pad_top) * d.s + w + d.pad_left;
        for (int q = columns.begin; q < columns.end; ++q) {
          const ptrdiff_t from = image + (static_cast<ptrdiff_t>(p) * d.q + q) * d.c + c;
          const auto here = hn::Eq(load_places(index, from, count, d.wide_index != 0),
                                   hn::Set(di, place_row - q * d.stride_w));
          sum =
              hn::Add(sum, hn::IfThenElseZero(hn::RebindMask(F32(), here), load(dy + from, count)));
        }
      }
      store(sum, out, count);
      out += count;
    }
  }
}

void max_pool2d_target(float* y, uint8_t* index, const float* x, const pool_dims& d,
                       exec::ThreadPool& pool) {
  for_each_row(pool, int64_t{d.n} * d.p, int64_t{d.r} * d.w * d.c, [&](int64_t row) {
    if (index) {
      pool_row<true>(y, index, x, row, d);
    } else {
      pool_row<false>(y, nullptr, x, row, d);
    }
  });
}

void max_pool2d_grad_target(float* dx, const float* dy, const uint8_t* index, const pool_dims& d,
                            exec::ThreadPool& pool) {
  for_each_row(pool, int64_t{d.n} * d.h, int64_t{d.w} * d.c,
               [&](int64_t row) { grad_row(dx, dy, index, row, d); });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(max_pool2d_target);
HWY_EXPORT(max_pool2d_grad_target);

void max_pool2d_simd(float* y, uint8_t* index, const float* x, const pool_dims* d,
                     exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(max_pool2d_target)(y, index, x, *d, pool);
}

void max_pool2d_inference_simd(float* y, const float* x, const pool_dims* d,
                               exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(max_pool2d_target)(y, nullptr, x, *d, pool);
}

void max_pool2d_grad_simd(float* dx, const float* dy, const uint8_t* index, const pool_dims* d,
                          exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(max_pool2d_grad_target)(dx, dy, index, *d, pool);
}

}  // namespace thimble::ops
#endif
