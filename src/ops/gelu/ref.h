#include "ops/families/unary/unary_dims.h"

/* The normal distribution function and, near it, the logistic function: without differences, so
   that small values keep their digits. */
static real gelu_share(real x, int is_tanh) {
  if (is_tanh) {
    /* (1 + tanh(u)) / 2 = sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3) */
    const real twice = (real)1.59576912160573071176 * (x + (real)0.044715 * x * x * x);
    return SIGMOID(twice);
  }
  return erfc(x * (real)-0.70710678118654752440) / 2;
}
static real gelu_slope(real x, int is_tanh) {
  if (is_tanh) {
    const real steepness = (real)1.59576912160573071176 * (1 + 3 * (real)0.044715 * x * x);
    return gelu_share(x, 1) * (1 + x * steepness * gelu_share(-x, 1));
  }
  return gelu_share(x, 0) + x * (real)0.39894228040143267794 * exp(-x * x / 2);
}
UNARY_REF(gelu, x* gelu_share(x, d->a > 0))
UNARY_GRAD_REF(gelu, x, dy* gelu_slope(x, d->a > 0))
