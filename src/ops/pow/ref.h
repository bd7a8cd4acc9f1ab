UNARY_REF(pow, pow(x, (real)d->a))
UNARY_GRAD_REF(pow, x, d->a == 0 ? 0 : dy * d->a * pow(x, (real)d->a - 1))
