#include "ops/families/reduction/axis_dims.h"

/* y[i] = the product of x up to i along the axis, in double precision. x, y: [outer, size, inner],
   y may be x. */
static void cumprod_ref(real* y, const real* x, const axis_dims* d) {
  for (int line = 0; line < d->outer * d->inner; ++line) {
    const ptrdiff_t from = (ptrdiff_t)(line / d->inner) * d->size * d->inner + line % d->inner;
    double product = 1;
    for (int i = 0; i < d->size; ++i) {
      const ptrdiff_t at = from + (ptrdiff_t)i * d->inner;
      product *= (double)x[at];
      y[at] = (real)product;
    }
  }
}

/* dx[i] = sum over k >= i of dy[k] times the product up to k without x[i]. */
static void cumprod_grad_ref(real* dx, const real* dy, const real* x, const axis_dims* d) {
  for (int line = 0; line < d->outer * d->inner; ++line) {
    const ptrdiff_t from = (ptrdiff_t)(line / d->inner) * d->size * d->inner + line % d->inner;
    double before = 1; /* the product of what stands before i */
    for (int i = 0; i < d->size; ++i) {
      double product = before;
      double sum = 0;
      for (int k = i; k < d->size; ++k) {
        const ptrdiff_t at = from + (ptrdiff_t)k * d->inner;
        if (k > i) product *= (double)x[at];
        sum += (double)dy[at] * product;
      }
      const ptrdiff_t own = from + (ptrdiff_t)i * d->inner;
      before *= (double)x[own];
      dx[own] = (real)sum;
    }
  }
}
