// Channels are in the vector lanes; a task computes rows of the result.

#include <hwy/highway.h>

#include "ops/families/conv/row_tasks.h"
#include "ops/families/kernel/lanes-inl.h"
#include "ops/families/pool/pool_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::average_pool2d_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// The tensor that a row reads (x or dy), and its end.
struct Source {
  const float* data;
  const float* end;
};

// The reciprocal of the divisor of a window's sum.
class Factor {
 public:
  explicit Factor(const pool_dims& d)
      : dims_(d), same_(is_same(d)), factor_(1.0F / static_cast<float>(whole(d))) {}
  HWY_INLINE Vec operator()(int p, int q, pool_range rows, pool_range columns) const {
    if (same_) return hn::Set(F32(), factor_);
    const int count = average_pool2d_count(p, q, rows, columns, &dims_);
    return hn::Set(F32(), 1.0F / static_cast<float>(count));
  }

 private:
  static int whole(const pool_dims& d) { return d.divisor != 0 ? d.divisor : d.r * d.s; }
  // Whether all windows have the same divisor.
  static bool is_same(const pool_dims& d) {
    if (d.divisor != 0) return true;
    return d.count_include_pad != 0 &&
           (d.p - 1) * d.stride_h + d.r <= d.h + d.pad_top + d.pad_bottom &&
           (d.q - 1) * d.stride_w + d.s <= d.w + d.pad_left + d.pad_right;
  }

  const pool_dims& dims_;
  bool same_;
  float factor_;
};

// y: the whole result; row: n * p_size + p.
void pool_row(float* y, Source x, int64_t row, const pool_dims& d) {
  const int p = static_cast<int>(row % d.p);
  const ptrdiff_t pitch = static_cast<ptrdiff_t>(d.w) * d.c;
  const float* image = x.data + static_cast<ptrdiff_t>(row / d.p) * d.h * pitch;
  const pool_range rows = pool_cells(p, d.stride_h, d.pad_top, 1, d.r, d.h);
  float* out = y + static_cast<ptrdiff_t>(row) * d.q * d.c;
  const float* const end = out + static_cast<ptrdiff_t>(d.q) * d.c;
  const Factor factor(d);
  for (int q = 0; q < d.q; ++q) {
    const pool_range columns = pool_cells(q, d.stride_w, d.pad_left, 1, d.s, d.w);
    for (int c = 0; c < d.c; c += lanes()) {
      const int count = std::min(lanes(), d.c - c);
      Vec sum = hn::Zero(F32());
      for (int r = rows.begin; r < rows.end; ++r) {
        const float* cell = image + r * pitch + static_cast<ptrdiff_t>(columns.begin) * d.c + c;
        for (int s = columns.begin; s < columns.end; ++s, cell += d.c) {
          sum = hn::Add(sum, load_within(cell, count, x.end));
        }
      }
      store_within(hn::Mul(sum, factor(p, q, rows, columns)), out, count, end);
      out += count;
    }
  }
}

// Computes a row of dx, front to back, for windows that do not overlap: each pixel gets the
// gradient of at most one window. dy: the row of windows that covers it.
void spread_row(float* out, const float* dy, const float* dy_end, int p, pool_range rows,
                const pool_dims& d) {
  const float* const end = out + static_cast<ptrdiff_t>(d.w) * d.c;
  const Factor factor(d);
  for (int q = 0; q < d.q; ++q, dy += d.c) {
    const pool_range columns = pool_cells(q, d.stride_w, d.pad_left, 1, d.s, d.w);
    const Vec share = factor(p, q, rows, columns);
    float* to = out + static_cast<ptrdiff_t>(columns.begin) * d.c;
    for (int w = columns.begin; w < columns.end; ++w, to += d.c) {
      for (int c = 0; c < d.c; c += lanes()) {
        const int count = std::min(lanes(), d.c - c);
        store_within(hn::Mul(load_within(dy + c, count, dy_end), share), to + c, count, end);
      }
    }
  }
}

// dx: the whole result; row: n * h_size + h.
void grad_row(float* dx, Source dy, int64_t row, const pool_dims& d) {
  const int h = static_cast<int>(row % d.h);
  const float* image = dy.data + static_cast<ptrdiff_t>(row / d.h) * d.p * d.q * d.c;
  const pool_range over_row = pool_windows({0, 0}, h, d.stride_h, d.pad_top, d.r, d.p);
  float* out = dx + static_cast<ptrdiff_t>(row) * d.w * d.c;
  const float* const end = out + static_cast<ptrdiff_t>(d.w) * d.c;
  if (d.stride_h >= d.r && d.stride_w == d.s && d.q * d.s >= d.w + d.pad_left &&
      over_row.begin < over_row.end) {
    const int p = over_row.begin;
    spread_row(out, image + static_cast<ptrdiff_t>(p) * d.q * d.c, dy.end, p,
               pool_cells(p, d.stride_h, d.pad_top, 1, d.r, d.h), d);
    return;
  }
  const Factor factor(d);
  pool_range over_column = {0, 0};
  for (int w = 0; w < d.w; ++w) {
    over_column = pool_windows(over_column, w, d.stride_w, d.pad_left, d.s, d.q);
    for (int c = 0; c < d.c; c += lanes()) {
      const int count = std::min(lanes(), d.c - c);
      Vec sum = hn::Zero(F32());
      for (int p = over_row.begin; p < over_row.end; ++p) {
        const pool_range rows = pool_cells(p, d.stride_h, d.pad_top, 1, d.r, d.h);
        for (int q = over_column.begin; q < over_column.end; ++q) {
          const pool_range columns = pool_cells(q, d.stride_w, d.pad_left, 1, d.s, d.w);
          const float* from = image + (static_cast<ptrdiff_t>(p) * d.q + q) * d.c + c;
          sum = hn::MulAdd(load_within(from, count, dy.end), factor(p, q, rows, columns), sum);
        }
      }
      store_within(sum, out, count, end);
      out += count;
    }
  }
}

void average_pool2d_target(float* y, const float* x, const pool_dims& d,
                           parallel::ThreadPool& pool) {
  const Source source = {x, x + static_cast<ptrdiff_t>(d.n) * d.h * d.w * d.c};
  for_each_row(pool, int64_t{d.n} * d.p, int64_t{d.r} * d.w * d.c,
               [&](int64_t row) { pool_row(y, source, row, d); });
}

void average_pool2d_grad_target(float* dx, const float* dy, const pool_dims& d,
                                parallel::ThreadPool& pool) {
  const Source source = {dy, dy + static_cast<ptrdiff_t>(d.n) * d.p * d.q * d.c};
  for_each_row(pool, int64_t{d.n} * d.h, int64_t{d.w} * d.c,
               [&](int64_t row) { grad_row(dx, source, row, d); });
}

}  // namespace thimble::ops::average_pool2d_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::average_pool2d_impl {
HWY_EXPORT(average_pool2d_target);
HWY_EXPORT(average_pool2d_grad_target);

void average_pool2d_simd(float* y, const float* x, const pool_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(average_pool2d_target)(y, x, *d, pool);
}

void average_pool2d_grad_simd(float* dx, const float* dy, const pool_dims* d,
                              parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(average_pool2d_grad_target)(dx, dy, *d, pool);
}

}  // namespace thimble::ops::average_pool2d_impl
#endif
