/* log(1 + exp(x)); beyond 20 it is x to float's last digit. */
static real mish_soft(real x) { return x > 20 ? x : log1p(exp(x)); }
static real mish_gate(real x) { return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)); }
static real mish_slope(real x) {
  const real t = tanh(mish_soft(x));
  return t + x * (1 - t * t) * mish_gate(x);
}
UNARY_REF(mish, x* tanh(mish_soft(x)))
UNARY_GRAD_REF(mish, x, dy* mish_slope(x))
