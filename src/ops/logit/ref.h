#include "ops/families/unary/unary_dims.h"

/* log(x / (1 - x)), without cancellation around 1/2. */
static real logit_of(real x) {
  return x < (real)0.25 ? log(x / (1 - x)) : log1p((2 * x - 1) / (1 - x));
}

static real logit_limited(real x, const unary_dims* d) {
  if (d->a < 0) return x;
  return x < d->a ? d->a : x > 1 - d->a ? 1 - d->a : x;
}

UNARY_REF(logit, logit_of(logit_limited(x, d)))
UNARY_GRAD_REF(logit, x,
               d->a >= 0 && (x < d->a || x > 1 - d->a) ? 0
               : x < 0 || x > 1                        ? (real)NAN
                                                       : dy / (x * (1 - x)))
