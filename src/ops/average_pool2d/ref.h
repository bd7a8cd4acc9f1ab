#include "ops/families/pool/pool_dims.h"

/* y[n,p,q,c] = sum over the window at (p, q) of x[n,.,.,c] / count.
   x: [n,h,w,c], y: [n,p,q,c]; nothing aliases. */
static void average_pool2d_ref(real* y, const real* x, const pool_dims* d) {
  ptrdiff_t out = 0;
  for (int n = 0; n < d->n; ++n) {
    const real* image = x + (ptrdiff_t)n * d->h * d->w * d->c;
    for (int p = 0; p < d->p; ++p) {
      const pool_range rows = pool_cells(p, d->stride_h, d->pad_top, 1, d->r, d->h);
      for (int q = 0; q < d->q; ++q) {
        const pool_range columns = pool_cells(q, d->stride_w, d->pad_left, 1, d->s, d->w);
        const real count = (real)average_pool2d_count(p, q, rows, columns, d);
        for (int c = 0; c < d->c; ++c, ++out) {
          real sum = 0;
          for (int row = rows.begin; row < rows.end; ++row) {
            for (int column = columns.begin; column < columns.end; ++column) {
              sum += image[((ptrdiff_t)row * d->w + column) * d->c + c];
            }
          }
          y[out] = sum / count;
        }
      }
    }
  }
}

/* dx[n,h,w,c] = sum of dy[n,p,q,c] / count over the windows (p, q) that cover (h, w).
   dy: [n,p,q,c], dx: [n,h,w,c]; nothing aliases. */
static void average_pool2d_grad_ref(real* dx, const real* dy, const pool_dims* d) {
  ptrdiff_t out = 0;
  for (int n = 0; n < d->n; ++n) {
    pool_range over_row = {0, 0};
    for (int h = 0; h < d->h; ++h) {
      over_row = pool_windows(over_row, h, d->stride_h, d->pad_top, d->r, d->p);
      pool_range over_column = {0, 0};
      for (int w = 0; w < d->w; ++w) {
        over_column = pool_windows(over_column, w, d->stride_w, d->pad_left, d->s, d->q);
        for (int c = 0; c < d->c; ++c, ++out) {
          real sum = 0;
          for (int p = over_row.begin; p < over_row.end; ++p) {
            const pool_range rows = pool_cells(p, d->stride_h, d->pad_top, 1, d->r, d->h);
            for (int q = over_column.begin; q < over_column.end; ++q) {
              const pool_range columns = pool_cells(q, d->stride_w, d->pad_left, 1, d->s, d->w);
              const ptrdiff_t from = (((ptrdiff_t)n * d->p + p) * d->q + q) * d->c + c;
              sum += dy[from] / (real)average_pool2d_count(p, q, rows, columns, d);
            }
          }
          dx[out] = sum;
        }
      }
    }
  }
}
