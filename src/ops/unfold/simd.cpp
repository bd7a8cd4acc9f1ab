// A task computes rows of the result. unfold copies neighbouring cells of a window at once; fold
// sums up every pixel in the order of the reference kernel.

#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "ops/families/conv/row_tasks.h"
#include "ops/families/kernel/lanes-inl.h"
#include "ops/families/pool/pool_dims.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::unfold_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// Results are written front to back, so a vector may reach beyond its values, up to `end`.
HWY_INLINE void copy(float* to, const float* from, ptrdiff_t count, const float* end,
                     const float* from_end) {
  for (ptrdiff_t i = 0; i < count; i += lanes()) {
    const int some = static_cast<int>(std::min<ptrdiff_t>(lanes(), count - i));
    store_within(load_within(from + i, some, from_end), to + i, some, end);
  }
}

HWY_INLINE void clear(float* to, ptrdiff_t count, const float* end) {
  for (ptrdiff_t i = 0; i < count; i += lanes()) {
    const int some = static_cast<int>(std::min<ptrdiff_t>(lanes(), count - i));
    store_within(hn::Zero(F32()), to + i, some, end);
  }
}

// The cells of one row of a window: run of them that are neighbours in x are copied at once.
// column: of the first cell, in pixels.
HWY_INLINE void unfold_cells(float* y, const float* row, int column, const float* y_end,
                             const float* x_end, const pool_dims& d) {
  const ptrdiff_t c = d.c;
  if (d.dilation_w != 1) {
    for (int s = 0; s < d.s; ++s, y += c, column += d.dilation_w) {
      if (column < 0 || column >= d.w) {
        clear(y, c, y_end);
      } else {
        copy(y, row + column * c, c, y_end, x_end);
      }
    }
    return;
  }
  const int begin = std::clamp(-column, 0, d.s);
  const int end = std::clamp(d.w - column, begin, d.s);
  clear(y, begin * c, y_end);
  copy(y + begin * c, row + (column + begin) * c, (end - begin) * c, y_end, x_end);
  clear(y + end * c, (d.s - end) * c, y_end);
}

// Whether a row of a window is a few neighbouring values: moved one by one they take less time than
// a vector with a mask.
HWY_INLINE bool has_short_rows(const pool_dims& d) {
  return d.s * d.c <= 4 && (d.s == 1 || d.dilation_w == 1);
}

// Calls rows(kValues) with the number of values of a short row of a window, known when compiling.
template <class F>
HWY_INLINE void for_short_rows(const pool_dims& d, const F& rows) {
  switch (d.s * d.c) {
    case 1:
      return rows(std::integral_constant<int, 1>());
    case 2:
      return rows(std::integral_constant<int, 2>());
    case 3:
      return rows(std::integral_constant<int, 3>());
    default:
      return rows(std::integral_constant<int, 4>());
  }
}

// Calls whole(q, value) for every window of a row of an image that lies inside of it, and part(q,
// value, s) for the cells of others that do. value: the number of the cell's first value in the
// row.
template <class Whole, class Part>
HWY_INLINE void for_short_cells(const pool_dims& d, const Whole& whole, const Part& part) {
  for (int q = 0; q < d.q; ++q) {
    const int column = q * d.stride_w - d.pad_left;
    if (column >= 0 && column + d.s <= d.w) {
      whole(q, ptrdiff_t{column} * d.c);
      continue;
    }
    for (int s = 0; s < d.s; ++s) {
      if (column + s >= 0 && column + s < d.w) part(q, ptrdiff_t{column + s} * d.c, s);
    }
  }
}

// y: the row of windows; x: the image; top: the first row of the windows.
void unfold_short_rows(float* y, const float* x, int top, const pool_dims& d) {
  const ptrdiff_t c = d.c;
  const ptrdiff_t window = ptrdiff_t{d.r} * d.s * c;
  for_short_rows(d, [=, &d](auto values) {
    float* to = y;
    for (int r = 0; r < d.r; ++r, to += values) {
      const int h = top + r * d.dilation_h;
      const bool inside = h >= 0 && h < d.h;
      if (!inside || d.pad_left > 0 || (d.q - 1) * d.stride_w - d.pad_left + d.s > d.w) {
        for (int q = 0; q < d.q; ++q) std::fill_n(to + q * window, int{values}, 0.0F);
      }
      if (!inside) continue;
      const float* const row = x + ptrdiff_t{h} * d.w * c;
      for_short_cells(
          d,
          [=](int q, ptrdiff_t value) {
            for (int i = 0; i < values; ++i) to[q * window + i] = row[value + i];
          },
          [=](int q, ptrdiff_t value, int s) {
            for (int i = 0; i < c; ++i) to[q * window + s * c + i] = row[value + i];
          });
    }
  });
}

// row: n * p_size + p.
void unfold_row(float* y, const float* x, int64_t row, const pool_dims& d) {
  const ptrdiff_t cells = ptrdiff_t{d.s} * d.c;
  const ptrdiff_t size = ptrdiff_t{d.q} * d.r * cells;
  const float* const x_end = x + ptrdiff_t{d.n} * d.h * d.w * d.c;
  y += row * size;
  x += row / d.p * d.h * d.w * d.c;
  const float* const y_end = y + size;
  const int top = static_cast<int>(row % d.p) * d.stride_h - d.pad_top;
  if (has_short_rows(d)) return unfold_short_rows(y, x, top, d);
  for (int q = 0; q < d.q; ++q) {
    const int column = q * d.stride_w - d.pad_left;
    for (int r = 0; r < d.r; ++r, y += cells) {
      const int h = top + r * d.dilation_h;
      if (h < 0 || h >= d.h) {
        clear(y, cells, y_end);
      } else {
        unfold_cells(y, x + ptrdiff_t{h} * d.w * d.c, column, y_end, x_end, d);
      }
    }
  }
}

// The windows [begin, end) of `places` whose cells may lie on a pixel.
HWY_INLINE pool_range windows_over(int pixel, int stride, int pad, int extent, int places) {
  const int last = pixel + pad;  // as the windows count, from the first cell of the first one
  const int first = last - extent + 1;
  return {first <= 0 ? 0 : (first + stride - 1) / stride, std::min(places, last / stride + 1)};
}

HWY_INLINE void add_run(float* to, const float* from, ptrdiff_t count) {
  ptrdiff_t i = 0;
  for (; i + lanes() <= count; i += lanes()) {
    hn::StoreU(hn::Add(hn::LoadU(F32(), to + i), hn::LoadU(F32(), from + i)), F32(), to + i);
  }
  if (i == count) return;
  const int rest = static_cast<int>(count - i);
  store_first(hn::Add(load_first(to + i, rest), load_first(from + i, rest)), to + i, rest);
}

// Adds one row of every window to a row of the image. cells: the row of the first window.
void fold_short_rows(float* y, const float* cells, ptrdiff_t window, const pool_dims& d) {
  const ptrdiff_t c = d.c;
  for_short_rows(d, [=, &d](auto values) {
    for_short_cells(
        d,
        [=](int q, ptrdiff_t value) {
          for (int i = 0; i < values; ++i) y[value + i] += cells[q * window + i];
        },
        [=](int q, ptrdiff_t value, int s) {
          for (int i = 0; i < c; ++i) y[value + i] += cells[q * window + s * c + i];
        });
  });
}

// fold_row for images of few channels: the neighbouring cells of a window are added at once.
// y: the row; x: the image's windows; rows: the windows over the row.
void fold_runs(float* y, const float* x, int h, pool_range rows, const pool_dims& d) {
  const ptrdiff_t c = d.c;
  const ptrdiff_t window = ptrdiff_t{d.r} * d.s * c;
  std::fill(y, y + d.w * c, 0.0F);
  for (int p = rows.begin; p < rows.end; ++p) {
    const int down = h + d.pad_top - p * d.stride_h;
    if (down % d.dilation_h != 0) continue;
    const float* cells = x + ptrdiff_t{p} * d.q * window + ptrdiff_t{down / d.dilation_h} * d.s * c;
    if (has_short_rows(d)) {
      fold_short_rows(y, cells, window, d);
      continue;
    }
    for (int q = 0; q < d.q; ++q, cells += window) {
      const int column = q * d.stride_w - d.pad_left;
      const int begin = std::clamp(-column, 0, d.s);
      const int end = std::clamp(d.w - column, begin, d.s);
      if (begin == end) continue;
      add_run(y + (column + begin) * c, cells + begin * c, (end - begin) * c);
    }
  }
}

// row: n * h_size + h.
void fold_row(float* y, const float* x, int64_t row, const pool_dims& d) {
  const ptrdiff_t window = ptrdiff_t{d.r} * d.s * d.c;
  const float* const x_end = x + ptrdiff_t{d.n} * d.p * d.q * window;
  const int h = static_cast<int>(row % d.h);
  x += row / d.h * d.p * d.q * window;
  y += row * d.w * d.c;
  const float* const y_end = y + ptrdiff_t{d.w} * d.c;
  const int tall = (d.r - 1) * d.dilation_h + 1;
  const int wide = (d.s - 1) * d.dilation_w + 1;
  const pool_range rows = windows_over(h, d.stride_h, d.pad_top, tall, d.p);
  if (d.c < lanes() && d.dilation_w == 1) return fold_runs(y, x, h, rows, d);
  for (int w = 0; w < d.w; ++w, y += d.c) {
    const pool_range columns = windows_over(w, d.stride_w, d.pad_left, wide, d.q);
    for (int c = 0; c < d.c; c += lanes()) {
      const int some = std::min(lanes(), d.c - c);
      Vec sum = hn::Zero(F32());
      for (int p = rows.begin; p < rows.end; ++p) {
        const int down = h + d.pad_top - p * d.stride_h;
        if (d.dilation_h != 1 && down % d.dilation_h != 0) continue;
        const float* const cells =
            x + ptrdiff_t{p} * d.q * window + ptrdiff_t{down / d.dilation_h} * d.s * d.c + c;
        for (int q = columns.begin; q < columns.end; ++q) {
          int across = w + d.pad_left - q * d.stride_w;
          if (d.dilation_w != 1) {
            if (across % d.dilation_w != 0) continue;
            across /= d.dilation_w;
          }
          const float* const cell = cells + q * window + ptrdiff_t{across} * d.c;
          sum = hn::Add(sum, load_within(cell, some, x_end));
        }
      }
      store_within(sum, y + c, some, y_end);
    }
  }
}

void unfold_target(float* y, const float* x, const pool_dims& d, parallel::ThreadPool& pool) {
  for_each_row(pool, int64_t{d.n} * d.p, int64_t{d.q} * d.r * d.s * d.c,
               [&](int64_t row) { unfold_row(y, x, row, d); });
}

void fold_target(float* y, const float* x, const pool_dims& d, parallel::ThreadPool& pool) {
  for_each_row(pool, int64_t{d.n} * d.h, int64_t{d.w} * d.r * d.s * d.c,
               [&](int64_t row) { fold_row(y, x, row, d); });
}

}  // namespace thimble::ops::unfold_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::unfold_impl {
HWY_EXPORT(unfold_target);
HWY_EXPORT(fold_target);

void unfold_simd(float* y, const float* x, const pool_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(unfold_target)(y, x, *d, pool);
}

void fold_simd(float* y, const float* x, const pool_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(fold_target)(y, x, *d, pool);
}

}  // namespace thimble::ops::unfold_impl
#endif
