#include "ops/families/nary/nary_dims.h"

/* y = a where condition is not 0, else b. All: see nary_dims; y: [n], may be an input of n
 * elements.
 */
static void where_ref(real* y, const uint8_t* condition, const real* a, const real* b,
                      const nary_dims* d) {
  NARY_FOR_EACH(d, at, y[i] = condition[at[0]] ? a[at[1]] : b[at[2]])
}

/* dx = dy where the condition holds (d->choice = 1) or does not (0), else 0. dy, dx: [n]. */
static void where_grad_ref(real* dx, const uint8_t* condition, const real* dy, const nary_dims* d) {
  NARY_FOR_EACH(d, at, dx[i] = (condition[at[0]] != 0) == d->choice ? dy[i] : 0)
}
