#include "ops/families/pool/pool_dims.h"

/* The windows of row p of image n. x: [n, h, w, c]; y: [n, p, q, r, s, c]. */
static void unfold_row(real* y, const real* x, int n, int p, const pool_dims* d) {
  const size_t bytes = (size_t)d->c * sizeof(real);
  y += ((ptrdiff_t)n * d->p + p) * d->q * d->r * d->s * d->c;
  x += (ptrdiff_t)n * d->h * d->w * d->c;
  for (int q = 0; q < d->q; ++q) {
    for (int r = 0; r < d->r; ++r) {
      const int row = p * d->stride_h + r * d->dilation_h - d->pad_top;
      for (int s = 0; s < d->s; ++s, y += d->c) {
        const int column = q * d->stride_w + s * d->dilation_w - d->pad_left;
        if (row < 0 || row >= d->h || column < 0 || column >= d->w) {
          memset(y, 0, bytes);
        } else {
          memcpy(y, x + ((ptrdiff_t)row * d->w + column) * d->c, bytes);
        }
      }
    }
  }
}

static void unfold_ref(real* y, const real* x, const pool_dims* d) {
  for (int n = 0; n < d->n; ++n) {
    for (int p = 0; p < d->p; ++p) unfold_row(y, x, n, p, d);
  }
}

/* Row h of image n: the sum of the cells of all windows that lie on it, in the order of the windows
   and of their cells. x: [n, p, q, r, s, c]; y: [n, h, w, c]. */
static void fold_row(real* y, const real* x, int n, int h, const pool_dims* d) {
  const ptrdiff_t window = (ptrdiff_t)d->r * d->s * d->c;
  y += ((ptrdiff_t)n * d->h + h) * d->w * d->c;
  x += (ptrdiff_t)n * d->p * d->q * window;
  memset(y, 0, (size_t)d->w * (size_t)d->c * sizeof(real));
  for (int p = 0; p < d->p; ++p) {
    const int from = h + d->pad_top - p * d->stride_h;
    if (from < 0 || from % d->dilation_h != 0 || from / d->dilation_h >= d->r) continue;
    const int r = from / d->dilation_h;
    for (int q = 0; q < d->q; ++q) {
      for (int s = 0; s < d->s; ++s) {
        const int column = q * d->stride_w + s * d->dilation_w - d->pad_left;
        if (column < 0 || column >= d->w) continue;
        const real* cell =
            x + ((ptrdiff_t)p * d->q + q) * window + ((ptrdiff_t)r * d->s + s) * d->c;
        real* to = y + (ptrdiff_t)column * d->c;
        for (int c = 0; c < d->c; ++c) to[c] += cell[c];
      }
    }
  }
}

static void fold_ref(real* y, const real* x, const pool_dims* d) {
  for (int n = 0; n < d->n; ++n) {
    for (int h = 0; h < d->h; ++h) fold_row(y, x, n, h, d);
  }
}
