#include "ops/regularize_gradient/dims.h"

/* y: [n], may alias grad: [n]. param: [n]. The sign of 0 is 0, that of NaN is NaN. */
static void regularize_gradient_ref(real* y, const real* grad, const real* param,
                                    const regularize_gradient_dims* d) {
  const real l1 = (real)d->l1;
  const real l2 = (real)d->l2;
  for (int i = 0; i < d->n; ++i) {
    const real p = param[i];
    y[i] = grad[i] + l2 * p + l1 * (p > 0 ? 1 : p < 0 ? -1 : p);
  }
}
