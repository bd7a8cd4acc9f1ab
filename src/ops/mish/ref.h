#include "ops/families/unary/unary_dims.h"

/* t + x (1 - t^2) sigmoid(x), t = tanh(ln(1 + e^x)). */
static real mish_slope(real x) {
  if (x > 30) return 1; /* to the last digit; infinity would give NaN */
  const real t = tanh(SOFTPLUS(x));
  return t + x * (1 - t * t) * SIGMOID(x);
}

UNARY_REF(mish, x* tanh(SOFTPLUS(x)))
UNARY_GRAD_REF(mish, x, dy* mish_slope(x))
