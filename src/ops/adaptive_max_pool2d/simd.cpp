// Channels are in the vector lanes; a task computes rows of the result.

#include <hwy/highway.h>

#include <algorithm>

#include "ops/families/conv/row_tasks.h"
#include "ops/families/kernel/lanes-inl.h"
#include "ops/families/update/adaptive_dims.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::adaptive_max_pool2d_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

using I32 = hn::RebindToSigned<F32>;

// One vector of channels of one window: its largest values, and in cells where they stand, as the
// bits of floats. image: moved on to those channels.
HWY_INLINE Vec window_max(const float* image, const float* x_end, adaptive_range rows,
                          adaptive_range columns, int count, const adaptive_dims& d, Vec& cells) {
  const I32 di;
  int cell = rows.begin * d.w + columns.begin;
  Vec best = load_within(image + ptrdiff_t{cell} * d.c, count, x_end);
  auto best_cell = hn::Set(di, cell);
  for (int row = rows.begin; row < rows.end; ++row) {
    cell = row * d.w + columns.begin;
    const float* from = image + ptrdiff_t{cell} * d.c;
    for (int column = columns.begin; column < columns.end; ++column, ++cell, from += d.c) {
      const Vec value = load_within(from, count, x_end);
      const auto first_nan = hn::AndNot(hn::IsNaN(best), hn::IsNaN(value));
      const auto larger = hn::Or(hn::Gt(value, best), first_nan);
      best = hn::IfThenElse(larger, value, best);
      best_cell = hn::IfThenElse(hn::RebindMask(di, larger), hn::Set(di, cell), best_cell);
    }
  }
  cells = hn::BitCast(F32(), best_cell);
  return best;
}

// y, index: the whole results; row: n * p_size + p.
void pool_row(float* y, float* index, const float* x, int64_t row, const adaptive_dims& d) {
  const ptrdiff_t row_size = ptrdiff_t{d.q} * d.c;
  const float* const x_end = x + ptrdiff_t{d.n} * d.h * d.w * d.c;
  x += row / d.p * d.h * d.w * d.c;
  const adaptive_range rows = adaptive_cells(static_cast<int>(row % d.p), d.h, d.p);
  ptrdiff_t out = row * row_size;
  const ptrdiff_t end = out + row_size;
  for (int q = 0; q < d.q; ++q) {
    const adaptive_range columns = adaptive_cells(q, d.w, d.q);
    for (int c = 0; c < d.c; c += lanes()) {
      const int count = std::min(lanes(), d.c - c);
      Vec cells;
      const Vec best = window_max(x + c, x_end, rows, columns, count, d, cells);
      store_within(best, y + out, count, y + end);
      store_within(cells, index + out, count, index + end);
      out += count;
    }
  }
}

void adaptive_max_pool2d_target(float* y, float* index, const float* x, const adaptive_dims& d,
                                parallel::ThreadPool& pool) {
  const int64_t window = int64_t{d.h} / std::max(1, d.p) + 1;
  for_each_row(pool, int64_t{d.n} * d.p, window * d.w * d.c,
               [&](int64_t row) { pool_row(y, index, x, row, d); });
}

}  // namespace thimble::ops::adaptive_max_pool2d_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::adaptive_max_pool2d_impl {
HWY_EXPORT(adaptive_max_pool2d_target);

void adaptive_max_pool2d_simd(float* y, int32_t* index, const float* x, const adaptive_dims* d,
                              parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(adaptive_max_pool2d_target)
  (y, static_cast<float*>(static_cast<void*>(index)), x, *d, pool);
}

}  // namespace thimble::ops::adaptive_max_pool2d_impl
#endif
