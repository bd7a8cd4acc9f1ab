UNARY_REF(elu, x > 0 ? x : d->a * expm1(x))
UNARY_GRAD_REF(elu, x, x > 0 ? dy : dy * d->a * exp(x))
