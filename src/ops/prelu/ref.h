#include "ops/families/reduction/axis_dims.h"

/* y = x where x > 0, else weight x. x, y: [outer, size], y may be x; weight: [size]. */
static void prelu_ref(real* y, const real* x, const real* weight, const axis_dims* d) {
  ptrdiff_t at = 0;
  for (int r = 0; r < d->outer; ++r) {
    for (int c = 0; c < d->size; ++c, ++at) y[at] = x[at] > 0 ? x[at] : weight[c] * x[at];
  }
}

/* dx = dy where x > 0, else weight dy; dweight = sum of dy x over x <= 0. dx may be dy or x. */
static void prelu_grad_ref(real* dx, real* dweight, const real* dy, const real* x,
                           const real* weight, const axis_dims* d) {
  for (int c = 0; c < d->size; ++c) {
    real sum = 0;
    for (int r = 0; r < d->outer; ++r) {
      const ptrdiff_t at = (ptrdiff_t)r * d->size + c;
      if (!(x[at] > 0)) sum += dy[at] * x[at];
      dx[at] = x[at] > 0 ? dy[at] : weight[c] * dy[at];
    }
    dweight[c] = sum;
  }
}
