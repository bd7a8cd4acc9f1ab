#include "ops/families/unary/unary_dims.h"

#ifdef THIMBLE_OF_INTEGERS
/* y[i] = -1, 0 or 1. y: [n], may be x. */
static void sign_ref(real* y, const real* x, const unary_dims* d) {
  for (int i = 0; i < d->n; ++i) y[i] = (real)(x[i] > 0 ? 1 : x[i] == 0 ? 0 : -1);
}
#else
UNARY_REF(sign, x > 0 ? 1 : x < 0 ? -1 : x)
#endif
