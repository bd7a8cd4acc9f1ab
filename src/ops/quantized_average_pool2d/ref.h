#include "ops/quantized_average_pool2d/dims.h"

/* y[n,p,q,c] = the rounded mean of x[n,.,.,c] over the window at (p, q), cells in the padding being
   the zero point. x: [n,h,w,c], y: [n,p,q,c]; nothing aliases. */
static void quantized_average_pool2d_ref(int8_t* y, const int8_t* x,
                                         const quantized_average_pool2d_dims* dims) {
  const pool_dims* d = &dims->pool;
  for (int n = 0; n < d->n; ++n) {
    const int8_t* image = x + (ptrdiff_t)n * d->h * d->w * d->c;
    for (int p = 0; p < d->p; ++p) {
      const pool_range rows = pool_cells(p, d->stride_h, d->pad_top, 1, d->r, d->h);
      for (int q = 0; q < d->q; ++q) {
        const pool_range columns = pool_cells(q, d->stride_w, d->pad_left, 1, d->s, d->w);
        const int64_t count = average_pool2d_count(p, q, rows, columns, d);
        const int64_t inside = (int64_t)(rows.end - rows.begin) * (columns.end - columns.begin);
        for (int c = 0; c < d->c; ++c) {
          int64_t sum = (count - inside) * dims->zero_point;
          for (int row = rows.begin; row < rows.end; ++row) {
            for (int column = columns.begin; column < columns.end; ++column) {
              sum += image[((ptrdiff_t)row * d->w + column) * d->c + c];
            }
          }
          *y++ = (int8_t)quantized_quotient(sum, count, dims->away);
        }
      }
    }
  }
}
