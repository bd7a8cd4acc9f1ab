#include "ops/families/update/adaptive_dims.h"

/* y = the largest value of every window, index = its cell row * w + column. x: [n, h, w, c], y,
   index: [n, p, q, c]; no aliasing. */
static void adaptive_max_pool2d_ref(real* y, int32_t* index, const real* x,
                                    const adaptive_dims* d) {
  for (int i = 0; i < d->n * d->p * d->q; ++i, y += d->c, index += d->c) {
    const real* image = x + (ptrdiff_t)(i / (d->p * d->q)) * d->h * d->w * d->c;
    const adaptive_range rows = adaptive_cells(i / d->q % d->p, d->h, d->p);
    const adaptive_range columns = adaptive_cells(i % d->q, d->w, d->q);
    for (int c = 0; c < d->c; ++c) {
      index[c] = rows.begin * d->w + columns.begin;
      y[c] = image[(ptrdiff_t)index[c] * d->c + c];
    }
    for (int row = rows.begin; row < rows.end; ++row) {
      for (int column = columns.begin; column < columns.end; ++column) {
        const int cell = row * d->w + column;
        const real* from = image + (ptrdiff_t)cell * d->c;
        for (int c = 0; c < d->c; ++c) {
          if (from[c] > y[c] || (from[c] != from[c] && y[c] == y[c])) {
            y[c] = from[c];
            index[c] = cell;
          }
        }
      }
    }
  }
}

/* dx = the sum of dy over the windows whose largest value stood there; a cell that the image does
   not have gets nothing. dy, index: [n, p, q, c], dx: [n, h, w, c]; no aliasing. */
static void adaptive_max_pool2d_grad_ref(real* dx, const real* dy, const int32_t* index,
                                         const adaptive_dims* d) {
  const ptrdiff_t size = (ptrdiff_t)d->n * d->h * d->w * d->c;
  for (ptrdiff_t i = 0; i < size; ++i) dx[i] = 0;
  for (int i = 0; i < d->n * d->p * d->q; ++i, dy += d->c, index += d->c) {
    real* image = dx + (ptrdiff_t)(i / (d->p * d->q)) * d->h * d->w * d->c;
    for (int c = 0; c < d->c; ++c) {
      if (index[c] < 0 || index[c] >= d->h * d->w) continue;
      image[(ptrdiff_t)index[c] * d->c + c] += dy[c];
    }
  }
}
