#include "ops/families/reduction/reduction_ref.h"

#ifdef THIMBLE_OF_INTEGERS
typedef wide prod_total;
#else
typedef double prod_total;
#endif

/* The product of all elements but number `without`, of real numbers in double precision. */
static prod_total prod_without(const real* x, int without, const reduction_dims* d) {
  prod_total product = 1;
  for (int r = 0; r < d->walk.reduced; ++r) {
    if (r != without) product *= (prod_total)x[reduce_offset(r, &d->walk.over)];
  }
  return product;
}

static real prod_one(const real* x, const reduction_dims* d) {
  return (real)prod_without(x, -1, d);
}

#ifndef THIMBLE_OF_INTEGERS
static void prod_grad_one(real* dx, real dy, const real* x, real y, const reduction_dims* d) {
  int zeros = 0;
  int zero = -1; /* the last element that is 0 */
  for (int r = 0; r < d->walk.reduced; ++r) {
    if (x[reduce_offset(r, &d->walk.over)] != 0) continue;
    zero = r;
    ++zeros;
  }
  const real others = zeros == 1 ? (real)prod_without(x, zero, d) : 0;
  for (int r = 0; r < d->walk.reduced; ++r) {
    const int i = reduce_offset(r, &d->walk.over);
    dx[i] = zeros == 0 ? dy * (y / x[i]) : r == zero ? dy * others : 0;
  }
}

REDUCTION_REF(prod)
#else
REDUCTION_VALUE_REF(prod)
#endif
