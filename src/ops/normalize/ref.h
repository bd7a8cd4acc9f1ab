#include "ops/normalize/dims.h"

/* y = x / max(norm, epsilon), norm = (sum along the axis of |x|^p)^(1/p). x, y: [outer, size,
   inner], y may be x; norm: [outer, inner]. */
static void normalize_ref(real* y, real* norm, const real* x, const normalize_dims* d) {
  const ptrdiff_t step = d->along.inner;
  for (int row = 0; row < d->along.outer * d->along.inner; ++row) {
    const ptrdiff_t at =
        (ptrdiff_t)(row / d->along.inner) * d->along.size * step + row % d->along.inner;
    real sum = 0;
    for (int i = 0; i < d->along.size; ++i) {
      const real value = x[at + i * step];
      sum += d->p == 2 ? value * value : pow(fabs(value), (real)d->p);
    }
    norm[row] = d->p == 2 ? sqrt(sum) : pow(sum, (real)(1 / d->p));
    const real divisor =
        norm[row] <= (real)d->epsilon ? (real)d->epsilon : norm[row]; /* NaN stays */
    for (int i = 0; i < d->along.size; ++i) y[at + i * step] = x[at + i * step] / divisor;
  }
}

/* dx = (dy - sign(y) |y|^(p - 1) sum along the axis of dy y) / norm where norm > epsilon, else
   dy / epsilon; a NaN norm makes all of it NaN. dx may be dy or y. */
static void normalize_grad_ref(real* dx, const real* dy, const real* y, const real* norm,
                               const normalize_dims* d) {
  const ptrdiff_t step = d->along.inner;
  for (int row = 0; row < d->along.outer * d->along.inner; ++row) {
    const ptrdiff_t at =
        (ptrdiff_t)(row / d->along.inner) * d->along.size * step + row % d->along.inner;
    const int whole = !(norm[row] <= (real)d->epsilon);
    const real divisor = whole ? norm[row] : (real)d->epsilon;
    real sum = 0;
    for (int i = 0; i < d->along.size; ++i) sum += dy[at + i * step] * y[at + i * step];
    if (!whole) sum = 0;
    for (int i = 0; i < d->along.size; ++i) {
      const real value = y[at + i * step];
      real slope = value;
      if (d->p != 2) {
        slope = value == 0 ? 0 : pow(fabs(value), (real)(d->p - 1)) * (value < 0 ? -1 : 1);
      }
      dx[at + i * step] = (dy[at + i * step] - slope * sum) / divisor;
    }
  }
}
