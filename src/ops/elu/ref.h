UNARY_REF(elu, x > 0 ? x : d->a * expm1(x))
UNARY_GRAD_REF(elu, y, y > 0 ? dy : dy * (y + d->a))
