/* log(1 + exp(z)) without overflow. */
static real softplus_of(real z) { return z > 0 ? z + log1p(exp(-z)) : log1p(exp(z)); }
static real softplus_slope(real z) { return z >= 0 ? 1 / (1 + exp(-z)) : exp(z) / (1 + exp(z)); }
UNARY_REF(softplus, x * d->a > d->b ? x : softplus_of(x * d->a) / d->a)
UNARY_GRAD_REF(softplus, x, x * d->a > d->b ? dy : dy * softplus_slope(x * d->a))
