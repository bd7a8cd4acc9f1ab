#include <hwy/highway.h>

#include "ops/families/kernel/elements-inl.h"
#include "ops/families/update/adaptive_dims.h"
#include "parallel/thread_pool.h"

#ifndef THIMBLE_OPS_ADAPTIVE_AVERAGE_POOL2D_ONCE_
#define THIMBLE_OPS_ADAPTIVE_AVERAGE_POOL2D_ONCE_
namespace thimble::ops::adaptive_average_pool2d_impl {

// Calls place(pixel, rows, columns, 1 / window pixels) for every pixel of one result.
template <class Place>
void for_each_place(const adaptive_dims& d, const Place& place) {
  for (int p = 0; p < d.p; ++p) {
    const adaptive_range rows = adaptive_cells(p, d.h, d.p);
    for (int q = 0; q < d.q; ++q) {
      const adaptive_range columns = adaptive_cells(q, d.w, d.q);
      const int cells = (rows.end - rows.begin) * (columns.end - columns.begin);
      place(int64_t{p} * d.q + q, rows, columns, 1.0F / static_cast<float>(cells));
    }
  }
}

}  // namespace thimble::ops::adaptive_average_pool2d_impl
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::adaptive_average_pool2d_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void pool_image(float* y, const float* x, const adaptive_dims& d) {
  const int64_t channels = d.c;
  for_each_place(d, [&](int64_t pixel, adaptive_range rows, adaptive_range columns, float share) {
    float* const to = y + pixel * channels;
    over_vectors(0, channels, [=, &d](auto io, int64_t c) HWY_ATTR {
      Vec sum = hn::Zero(F32());
      for (int row = rows.begin; row < rows.end; ++row) {
        const float* from = x + (int64_t{row} * d.w + columns.begin) * channels;
        for (int column = columns.begin; column < columns.end; ++column, from += channels) {
          sum = hn::Add(sum, io.load(from, c));
        }
      }
      io.store(hn::Mul(sum, hn::Set(F32(), share)), to, c);
    });
  });
}

void spread_image(float* dx, const float* dy, const adaptive_dims& d) {
  const int64_t channels = d.c;
  std::fill(dx, dx + int64_t{d.h} * d.w * channels, 0.0F);
  for_each_place(d, [&](int64_t pixel, adaptive_range rows, adaptive_range columns, float share) {
    const float* const from = dy + pixel * channels;
    over_vectors(0, channels, [=, &d](auto io, int64_t c) HWY_ATTR {
      const Vec part = hn::Mul(io.load(from, c), hn::Set(F32(), share));
      for (int row = rows.begin; row < rows.end; ++row) {
        float* to = dx + (int64_t{row} * d.w + columns.begin) * channels;
        for (int column = columns.begin; column < columns.end; ++column, to += channels) {
          io.store(hn::Add(io.load(to, c), part), to, c);
        }
      }
    });
  });
}

}  // namespace thimble::ops::adaptive_average_pool2d_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::adaptive_average_pool2d_impl {
HWY_EXPORT(pool_image);
HWY_EXPORT(spread_image);

void adaptive_average_pool2d_simd(float* y, const float* x, const adaptive_dims* d,
                                  parallel::ThreadPool& pool) {
  const int64_t image = int64_t{d->h} * d->w * d->c;
  const int64_t result = int64_t{d->p} * d->q * d->c;
  pool.run(d->n, [&](int64_t n) {
    HWY_DYNAMIC_DISPATCH(pool_image)(y + n * result, x + n * image, *d);
  });
}

void adaptive_average_pool2d_grad_simd(float* dx, const float* dy, const adaptive_dims* d,
                                       parallel::ThreadPool& pool) {
  const int64_t image = int64_t{d->h} * d->w * d->c;
  const int64_t result = int64_t{d->p} * d->q * d->c;
  pool.run(d->n, [&](int64_t n) {
    HWY_DYNAMIC_DISPATCH(spread_image)(dx + n * image, dy + n * result, *d);
  });
}

}  // namespace thimble::ops::adaptive_average_pool2d_impl
#endif
