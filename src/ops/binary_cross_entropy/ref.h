#include "ops/families/loss/loss_dims.h"

/* max(log x, -100). */
static real bounded_log(real x) {
  const real y = log(x);
  return y < -100 ? -100 : y;
}

LOSS_REF(binary_cross_entropy, -t* bounded_log(x) - (1 - t) * bounded_log(1 - x))
LOSS_GRAD_REF(binary_cross_entropy, (x - t) / fmax(x * (1 - x), (real)1e-12))
LOSS_GRAD_REF(binary_cross_entropy_target, log(1 - x) - log(x))
