static real gelu_exact(real x) { return x / 2 * (1 + erf(x * (real)0.70710678118654752440)); }
static real gelu_exact_slope(real x) {
  return (1 + erf(x * (real)0.70710678118654752440)) / 2 +
         x * (real)0.39894228040143267794 * exp(-x * x / 2);
}
static real gelu_inner(real x) {
  return (real)0.79788456080286535588 * (x + (real)0.044715 * x * x * x);
}
static real gelu_tanh(real x) { return x / 2 * (1 + tanh(gelu_inner(x))); }
static real gelu_tanh_slope(real x) {
  const real t = tanh(gelu_inner(x));
  return (1 + t) / 2 +
         x / 2 * (1 - t * t) * (real)0.79788456080286535588 * (1 + 3 * (real)0.044715 * x * x);
}
UNARY_REF(gelu, d->a > 0 ? gelu_tanh(x) : gelu_exact(x))
UNARY_GRAD_REF(gelu, x, dy*(d->a > 0 ? gelu_tanh_slope(x) : gelu_exact_slope(x)))
