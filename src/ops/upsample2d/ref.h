#include "ops/upsample2d/dims.h"

#ifdef THIMBLE_OF_INTEGERS

/* Bilinear: rounded sums over the four cells around a place, halves away from zero. */
static void upsample2d_linear(real* y, const real* x, const upsample2d_dims* d) {
  const ptrdiff_t row = (ptrdiff_t)d->w.from * d->c;
  for (int n = 0; n < d->n; ++n, x += d->h.from * row) {
    for (int p = 0; p < d->h.to; ++p) {
      const upsample_steps over = upsample_fixed(p, &d->h);
      for (int q = 0; q < d->w.to; ++q) {
        const upsample_steps beside = upsample_fixed(q, &d->w);
        const real* top = x + over.first * row;
        const real* bottom = x + over.second * row;
        const ptrdiff_t left = (ptrdiff_t)beside.first * d->c;
        const ptrdiff_t right = (ptrdiff_t)beside.second * d->c;
        for (int c = 0; c < d->c; ++c) {
          const int64_t upper = (1024 - beside.weight) * (int64_t)top[left + c] +
                                beside.weight * (int64_t)top[right + c];
          const int64_t lower = (1024 - beside.weight) * (int64_t)bottom[left + c] +
                                beside.weight * (int64_t)bottom[right + c];
          const int64_t sum = (1024 - over.weight) * upper + over.weight * lower;
          *y++ = (real)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
        }
      }
    }
  }
}

/* Each pixel of y is the nearest pixel of x, or between the four around its place. x: [n, h.from,
   w.from, c], y: [n, h.to, w.to, c]; no aliasing. */
static void upsample2d_ref(real* y, const real* x, const upsample2d_dims* d) {
  if (d->linear) {
    upsample2d_linear(y, x, d);
    return;
  }
  const ptrdiff_t row = (ptrdiff_t)d->w.from * d->c;
  for (int n = 0; n < d->n; ++n, x += d->h.from * row) {
    for (int p = 0; p < d->h.to; ++p) {
      const real* from = x + upsample_place(p, &d->h, 0).first * row;
      for (int q = 0; q < d->w.to; ++q) {
        const real* pixel = from + (ptrdiff_t)upsample_place(q, &d->w, 0).first * d->c;
        for (int c = 0; c < d->c; ++c) *y++ = pixel[c];
      }
    }
  }
}

#else

/* Bicubic: sums over the four by four cells around a place. */
static void upsample2d_cubic(real* y, const real* x, const upsample2d_dims* d) {
  const ptrdiff_t row = (ptrdiff_t)d->w.from * d->c;
  for (int n = 0; n < d->n; ++n, x += d->h.from * row) {
    for (int p = 0; p < d->h.to; ++p) {
      const upsample_taps over = upsample_curve(p, &d->h);
      for (int q = 0; q < d->w.to; ++q, y += d->c) {
        const upsample_taps beside = upsample_curve(q, &d->w);
        for (int c = 0; c < d->c; ++c) y[c] = 0;
        for (int r = 0; r < 4; ++r) {
          for (int s = 0; s < 4; ++s) {
            const real weight = (real)(over.weight[r] * beside.weight[s]);
            const real* from = x + over.cell[r] * row + (ptrdiff_t)beside.cell[s] * d->c;
            for (int c = 0; c < d->c; ++c) y[c] += weight * from[c];
          }
        }
      }
    }
  }
}

static void upsample2d_cubic_grad(real* dx, const real* dy, const upsample2d_dims* d) {
  const ptrdiff_t row = (ptrdiff_t)d->w.from * d->c;
  for (int n = 0; n < d->n; ++n, dx += d->h.from * row) {
    for (ptrdiff_t i = 0; i < d->h.from * row; ++i) dx[i] = 0;
    for (int p = 0; p < d->h.to; ++p) {
      const upsample_taps over = upsample_curve(p, &d->h);
      for (int q = 0; q < d->w.to; ++q, dy += d->c) {
        const upsample_taps beside = upsample_curve(q, &d->w);
        for (int r = 0; r < 4; ++r) {
          for (int s = 0; s < 4; ++s) {
            const real weight = (real)(over.weight[r] * beside.weight[s]);
            real* to = dx + over.cell[r] * row + (ptrdiff_t)beside.cell[s] * d->c;
            for (int c = 0; c < d->c; ++c) to[c] += weight * dy[c];
          }
        }
      }
    }
  }
}

/* Each pixel of y from the nearest pixel of x, or between the four around its place.
   x: [n, h.from, w.from, c], y: [n, h.to, w.to, c]; no aliasing. */
static void upsample2d_ref(real* y, const real* x, const upsample2d_dims* d) {
  if (d->cubic) {
    upsample2d_cubic(y, x, d);
    return;
  }
  const ptrdiff_t row = (ptrdiff_t)d->w.from * d->c;
  for (int n = 0; n < d->n; ++n, x += d->h.from * row) {
    for (int p = 0; p < d->h.to; ++p) {
      const upsample_cells over = upsample_place(p, &d->h, d->linear);
      const real* top = x + over.first * row;
      const real* bottom = x + over.second * row;
      const real down = (real)over.weight;
      for (int q = 0; q < d->w.to; ++q, y += d->c) {
        const upsample_cells beside = upsample_place(q, &d->w, d->linear);
        const ptrdiff_t left = (ptrdiff_t)beside.first * d->c;
        const ptrdiff_t right = (ptrdiff_t)beside.second * d->c;
        const real along = (real)beside.weight;
        for (int c = 0; c < d->c; ++c) {
          const real above = top[left + c] + along * (top[right + c] - top[left + c]);
          const real below = bottom[left + c] + along * (bottom[right + c] - bottom[left + c]);
          y[c] = above + down * (below - above);
        }
      }
    }
  }
}

/* dx = the sum of dy over the pixels of y that a pixel of x is part of, by its weight in each.
   dy: [n, h.to, w.to, c], dx: [n, h.from, w.from, c]; no aliasing. */
static void upsample2d_grad_ref(real* dx, const real* dy, const upsample2d_dims* d) {
  if (d->cubic) {
    upsample2d_cubic_grad(dx, dy, d);
    return;
  }
  const ptrdiff_t row = (ptrdiff_t)d->w.from * d->c;
  for (int n = 0; n < d->n; ++n, dx += d->h.from * row) {
    for (ptrdiff_t i = 0; i < d->h.from * row; ++i) dx[i] = 0;
    for (int p = 0; p < d->h.to; ++p) {
      const upsample_cells over = upsample_place(p, &d->h, d->linear);
      const real down = (real)over.weight;
      for (int q = 0; q < d->w.to; ++q, dy += d->c) {
        const upsample_cells beside = upsample_place(q, &d->w, d->linear);
        const ptrdiff_t left = (ptrdiff_t)beside.first * d->c;
        const ptrdiff_t right = (ptrdiff_t)beside.second * d->c;
        const real along = (real)beside.weight;
        for (int c = 0; c < d->c; ++c) {
          dx[over.first * row + left + c] += (1 - down) * (1 - along) * dy[c];
          dx[over.first * row + right + c] += (1 - down) * along * dy[c];
          dx[over.second * row + left + c] += down * (1 - along) * dy[c];
          dx[over.second * row + right + c] += down * along * dy[c];
        }
      }
    }
  }
}

#endif
