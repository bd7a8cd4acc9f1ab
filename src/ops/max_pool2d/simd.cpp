// Forward, channels lie in the vector lanes and a row of the result is a unit of work; backward, an
// image is.

#include "ops/max_pool2d/simd.h"

#include <algorithm>
#include <array>

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
using Places = hn::Vec<I32>;

// Places of maxima lie in memory as bytes, or as int32 for wide windows.
template <class T>
HWY_INLINE void store_places(Places places, T* to, int count, const T* end) {
  const hn::Rebind<T, I32> d;
  const auto values = [&] {
    if constexpr (sizeof(T) == 1) {
      return hn::DemoteTo(d, places);
    } else {
      return places;
    }
  }();
  if (end - to >= lanes()) {
    hn::StoreU(values, d, to);
  } else {
    alignas(64) T all[HWY_LANES(float)];
    hn::Store(values, d, all);
    std::copy(all, all + count, to);
  }
}

// What a row reads, and where that ends.
struct Source {
  const float* data;
  const float* end;
};

// One vector of channels of one window. image: [h, w, c], moved on to those channels.
HWY_INLINE Vec window_max(Source image, pool_range rows, pool_range columns, int first_place,
                          const pool_dims& d, int count, Places& places) {
  const I32 di;
  const ptrdiff_t pitch = static_cast<ptrdiff_t>(d.w) * d.c;
  const float* first = image.data + static_cast<ptrdiff_t>(columns.begin) * d.c;
  Vec best = load_within(first + rows.begin * pitch, count, image.end);
  places = hn::Set(di, first_place);
  const ptrdiff_t step = static_cast<ptrdiff_t>(d.dilation_w) * d.c;
  int row_place = first_place;
  for (int row = rows.begin; row < rows.end; row += d.dilation_h, row_place += d.s) {
    int place = row_place;
    const float* cell = first + row * pitch;
    for (int column = columns.begin; column < columns.end;
         column += d.dilation_w, ++place, cell += step) {
      const Vec value = load_within(cell, count, image.end);
      const auto larger = hn::Or(hn::Gt(value, best), hn::IsNaN(value));
      best = hn::IfThenElse(larger, value, best);
      places = hn::IfThenElse(hn::RebindMask(di, larger), hn::Set(di, place), places);
    }
  }
  return best;
}

// y, index: the whole results, no index if null; row: n * p_size + p.
template <class T>
void pool_row(float* y, T* index, Source x, int64_t row, const pool_dims& d) {
  const int p = static_cast<int>(row % d.p);
  x.data += static_cast<ptrdiff_t>(row / d.p) * d.h * d.w * d.c;
  const pool_range rows = pool_cells(p, d.stride_h, d.pad_top, d.dilation_h, d.r, d.h);
  const ptrdiff_t row_size = static_cast<ptrdiff_t>(d.q) * d.c;
  ptrdiff_t out = row * row_size;
  const ptrdiff_t end = out + row_size;
  for (int q = 0; q < d.q; ++q) {
    const pool_range columns = pool_cells(q, d.stride_w, d.pad_left, d.dilation_w, d.s, d.w);
    const int first_place = (rows.begin - p * d.stride_h + d.pad_top) / d.dilation_h * d.s +
                            (columns.begin - q * d.stride_w + d.pad_left) / d.dilation_w;
    for (int c = 0; c < d.c; c += lanes()) {
      const int count = std::min(lanes(), d.c - c);
      Places places;
      const Vec best =
          window_max({x.data + c, x.end}, rows, columns, first_place, d, count, places);
      store_within(best, y + out, count, y + end);
      if (index) store_places(places, index + out, count, index + end);
      out += count;
    }
  }
}

void max_pool2d_target(float* y, uint8_t* index, const float* x, const pool_dims& d,
                       exec::ThreadPool& pool) {
  const Source source = {x, x + static_cast<ptrdiff_t>(d.n) * d.h * d.w * d.c};
  for_each_row(pool, int64_t{d.n} * d.p, int64_t{d.r} * d.w * d.c, [&](int64_t row) {
    if (d.wide_index) {
      pool_row(y, static_cast<int32_t*>(static_cast<void*>(index)), source, row, d);
    } else {
      pool_row(y, index, source, row, d);
    }
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(max_pool2d_target);

namespace {

// Scatters the gradient of one image. With one maximum a window that is less work than asking every
// cell whether it was the one. offset(place): of a cell of the window, in values.
template <class T, class Offset>
void scatter_image(float* dx, const float* dy, const T* index, const pool_dims& d,
                   const Offset& offset) {
  std::fill(dx, dx + static_cast<ptrdiff_t>(d.h) * d.w * d.c, 0.0F);
  for (int p = 0; p < d.p; ++p) {
    for (int q = 0; q < d.q; ++q, dy += d.c, index += d.c) {
      // The window may begin outside the image; its largest cell never lies there.
      const ptrdiff_t row = static_cast<ptrdiff_t>(p) * d.stride_h - d.pad_top;
      const ptrdiff_t begin = (row * d.w + q * d.stride_w - d.pad_left) * d.c;
      for (int c = 0; c < d.c; ++c) dx[begin + offset(index[c]) + c] += dy[c];
    }
  }
}

}  // namespace

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
  const auto offset_of = [d](int place) {
    const ptrdiff_t row = static_cast<ptrdiff_t>(place / d->s) * d->dilation_h;
    return (row * d->w + place % d->s * d->dilation_w) * d->c;
  };
  std::array<ptrdiff_t, 256> offsets{};
  for (int place = 0; place < std::min(d->r * d->s, 256); ++place) {
    offsets[static_cast<size_t>(place)] = offset_of(place);
  }
  const ptrdiff_t inputs = static_cast<ptrdiff_t>(d->h) * d->w * d->c;
  const ptrdiff_t outputs = static_cast<ptrdiff_t>(d->p) * d->q * d->c;
  pool.run(d->n, [&](int64_t n) {
    if (d->wide_index) {
      const auto* places = static_cast<const int32_t*>(static_cast<const void*>(index));
      scatter_image(dx + n * inputs, dy + n * outputs, places + n * outputs, *d, offset_of);
    } else {
      scatter_image(dx + n * inputs, dy + n * outputs, index + n * outputs, *d,
                    [&offsets](uint8_t place) { return offsets[place]; });
    }
  });
}

}  // namespace thimble::ops
#endif
