#include "ops/families/reduction/axis_dims.h"

/* y = x - log(sum over the axis of exp(x)). x, y: [outer, size, inner], y may be x. */
static void log_softmax_ref(real* y, const real* x, const axis_dims* d) {
  const ptrdiff_t step = d->inner;
  for (int row = 0; row < d->outer * d->inner; ++row) {
    const ptrdiff_t at = (ptrdiff_t)(row / d->inner) * d->size * step + row % d->inner;
    real largest = x[at];
    for (int c = 1; c < d->size; ++c) {
      if (x[at + c * step] > largest) largest = x[at + c * step];
    }
    real sum = 0;
    for (int c = 0; c < d->size; ++c) sum += exp(x[at + c * step] - largest);
    const real rest = log(sum);
    for (int c = 0; c < d->size; ++c) {
      y[at + c * step] = x[at + c * step] - largest - rest;
    }
  }
}

/* dx = dy - exp(y) sum over the axis of dy. All: [outer, size, inner]; dx may be dy or y. */
static void log_softmax_grad_ref(real* dx, const real* dy, const real* y, const axis_dims* d) {
  const ptrdiff_t step = d->inner;
  for (int row = 0; row < d->outer * d->inner; ++row) {
    const ptrdiff_t at = (ptrdiff_t)(row / d->inner) * d->size * step + row % d->inner;
    real sum = 0;
    for (int c = 0; c < d->size; ++c) sum += dy[at + c * step];
    for (int c = 0; c < d->size; ++c) {
      dx[at + c * step] = dy[at + c * step] - exp(y[at + c * step]) * sum;
    }
  }
}
