#include "ops/families/unary/unary_dims.h"

#ifdef THIMBLE_OF_INTEGERS
/* y[i] = |x[i]|; the smallest integer, which has no positive counterpart, is kept. y: [n], may be
 * x. */
static void abs_ref(real* y, const real* x, const unary_dims* d) {
  for (int i = 0; i < d->n; ++i) y[i] = x[i] <= 0 ? (real)(0 - (wide)x[i]) : x[i];
}
#else
UNARY_REF(abs, fabs(x))
UNARY_GRAD_REF(abs, x, x > 0 ? dy : x < 0 ? -dy : x * dy)
#endif
