#include "ops/families/update/adaptive_dims.h"

/* y = the mean of every window. x: [n, h, w, c], y: [n, p, q, c]; no aliasing. */
static void adaptive_average_pool2d_ref(real* y, const real* x, const adaptive_dims* d) {
  for (int i = 0; i < d->n * d->p * d->q; ++i, y += d->c) {
    const real* image = x + (ptrdiff_t)(i / (d->p * d->q)) * d->h * d->w * d->c;
    const adaptive_range rows = adaptive_cells(i / d->q % d->p, d->h, d->p);
    const adaptive_range columns = adaptive_cells(i % d->q, d->w, d->q);
    const real count = (real)((rows.end - rows.begin) * (columns.end - columns.begin));
    for (int c = 0; c < d->c; ++c) y[c] = 0;
    for (int row = rows.begin; row < rows.end; ++row) {
      for (int column = columns.begin; column < columns.end; ++column) {
        const real* from = image + ((ptrdiff_t)row * d->w + column) * d->c;
        for (int c = 0; c < d->c; ++c) y[c] += from[c];
      }
    }
    for (int c = 0; c < d->c; ++c) y[c] /= count;
  }
}

/* dx = the sum of dy / cells over the windows that cover each cell. dy: [n, p, q, c], dx: [n, h, w,
   c]; no aliasing. */
static void adaptive_average_pool2d_grad_ref(real* dx, const real* dy, const adaptive_dims* d) {
  const ptrdiff_t size = (ptrdiff_t)d->n * d->h * d->w * d->c;
  for (ptrdiff_t i = 0; i < size; ++i) dx[i] = 0;
  for (int i = 0; i < d->n * d->p * d->q; ++i, dy += d->c) {
    real* image = dx + (ptrdiff_t)(i / (d->p * d->q)) * d->h * d->w * d->c;
    const adaptive_range rows = adaptive_cells(i / d->q % d->p, d->h, d->p);
    const adaptive_range columns = adaptive_cells(i % d->q, d->w, d->q);
    const real count = (real)((rows.end - rows.begin) * (columns.end - columns.begin));
    for (int row = rows.begin; row < rows.end; ++row) {
      for (int column = columns.begin; column < columns.end; ++column) {
        real* to = image + ((ptrdiff_t)row * d->w + column) * d->c;
        for (int c = 0; c < d->c; ++c) to[c] += dy[c] / count;
      }
    }
  }
}
