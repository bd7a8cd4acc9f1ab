#include "ops/families/math/double.h"
#include "ops/families/reduction/reduction_ref.h"

/* d->a: p. Whether p is infinite. */
static int norm_is_extreme(const reduction_dims* d) { return d->a - d->a != 0; }

static real norm_extreme(const real* x, const reduction_dims* d) {
  real best = d->walk.reduced > 0 ? fabs(x[0]) : 0;
  for (int r = 1; r < d->walk.reduced; ++r) {
    const real size = fabs(x[reduce_offset(r, &d->walk.over)]);
    if (size != size || (d->a > 0 ? size > best : size < best)) best = size;
  }
  return best;
}

static real norm_one(const real* x, const reduction_dims* d) {
  if (norm_is_extreme(d)) return norm_extreme(x, d);
  double sum = 0;
  for (int r = 0; r < d->walk.reduced; ++r) {
    const double size = (double)fabs(x[reduce_offset(r, &d->walk.over)]);
    if (d->a == 0) {
      sum += size != 0;
    } else {
      sum += d->a == 2 ? size * size : d->a == 1 ? size : math_double_pow(size, d->a);
    }
  }
  return (real)(d->a == 2                ? math_double_sqrt(sum)
                : d->a == 0 || d->a == 1 ? sum
                                         : math_double_pow(sum, 1 / d->a));
}

/* dy sign(x) (|x| / y)^(p - 1); equal shares to what is extreme. */
static void norm_grad_one(real* dx, real dy, const real* x, real y, const reduction_dims* d) {
  const int extreme = norm_is_extreme(d);
  int ties = 0;
  for (int r = 0; extreme && r < d->walk.reduced; ++r) {
    ties += fabs(x[reduce_offset(r, &d->walk.over)]) == y;
  }
  for (int r = 0; r < d->walk.reduced; ++r) {
    const int i = reduce_offset(r, &d->walk.over);
    const real own = x[i];
    const real sign = own > 0 ? 1 : -1;
    if (own == 0 || y == 0 || d->a == 0) {
      dx[i] = 0;
    } else if (extreme) {
      dx[i] = fabs(own) == y ? dy * sign / (real)ties : 0;
    } else if (d->a == 2) {
      dx[i] = dy * (own / y);
    } else {
      dx[i] = dy * sign * pow(fabs(own) / y, (real)(d->a - 1));
    }
  }
}

REDUCTION_REF(norm)
