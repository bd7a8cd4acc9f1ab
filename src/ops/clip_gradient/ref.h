#include "ops/clip_gradient/dims.h"

/* y: [1] = previous + the sum of the squares of x: [n]. previous: [1] or NULL. Aliases nothing. */
static void sum_squares_ref(real* y, const real* x, const real* previous, const clip_dims* d) {
  double sum = 0.0;
  for (int i = 0; i < d->n; ++i) sum += (double)x[i] * (double)x[i];
  *y = (real)(previous ? (double)*previous + sum : sum);
}

/* y: [n] = grad: [n], scaled so that its norm, the root of squares: [1], is at most max_norm. y may
   alias grad. */
static void clip_by_norm_ref(real* y, const real* grad, const real* squares, const clip_dims* d) {
  const real factor = (real)clip_norm_factor(d, (double)*squares);
  for (int i = 0; i < d->n; ++i) y[i] = factor * grad[i];
}

/* y: [n] = grad: [n], every element brought into [-limit, limit]; NaN is kept. y may alias grad. */
static void clip_by_value_ref(real* y, const real* grad, const clip_dims* d) {
  const real limit = (real)d->limit;
  for (int i = 0; i < d->n; ++i) {
    const real g = grad[i];
    y[i] = g > limit ? limit : g < -limit ? -limit : g;
  }
}
