#include "ops/families/loss/loss_dims.h"

/* x: mean, t: logarithm of the variance. */
LOSS_REF(gaussian_kl, (x * x + (expm1(t) - t)) / 2)

/* dmean, dlogvar, mean, logvar: [n]; dy: [1], or [n] for the terms. dmean may alias mean, dlogvar
 * logvar. */
static void gaussian_kl_grad_ref(real* dmean, real* dlogvar, const real* dy, const real* mean,
                                 const real* logvar, const loss_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    const real scale = LOSS_SCALE(dy, i, d);
    dmean[i] = scale * mean[i];
    dlogvar[i] = scale * (expm1(logvar[i]) / 2);
  }
}
