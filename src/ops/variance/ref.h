#include "ops/families/reduction/reduction_ref.h"

static double variance_mean(const real* x, const reduction_dims* d) {
  double sum = 0;
  for (int r = 0; r < d->walk.reduced; ++r) sum += (double)x[reduce_offset(r, &d->walk.over)];
  return sum / d->walk.reduced;
}

/* d->a: the correction. */
static double variance_divisor(const reduction_dims* d) {
  const double left = d->walk.reduced - d->a;
  return left > 0 ? left : 0;
}

static real variance_one(const real* x, const reduction_dims* d) {
  const double mean = variance_mean(x, d);
  double sum = 0;
  for (int r = 0; r < d->walk.reduced; ++r) {
    const double off = (double)x[reduce_offset(r, &d->walk.over)] - mean;
    sum += off * off;
  }
  return (real)(sum / variance_divisor(d));
}

static void variance_grad_one(real* dx, real dy, const real* x, real y, const reduction_dims* d) {
  const double mean = variance_mean(x, d);
  const double scale = 2 * (double)dy / variance_divisor(d);
  for (int r = 0; r < d->walk.reduced; ++r) {
    const int i = reduce_offset(r, &d->walk.over);
    dx[i] = (real)(scale * ((double)x[i] - mean));
  }
  (void)y;
}

static real standard_deviation_one(const real* x, const reduction_dims* d) {
  return sqrt(variance_one(x, d));
}

static void standard_deviation_grad_one(real* dx, real dy, const real* x, real y,
                                        const reduction_dims* d) {
  variance_grad_one(dx, y == 0 ? 0 : dy / (2 * y), x, y, d);
}

REDUCTION_REF(variance)
REDUCTION_REF(standard_deviation)
