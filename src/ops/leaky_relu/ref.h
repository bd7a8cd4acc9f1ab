UNARY_REF(leaky_relu, x > 0 ? x : d->a * x)
UNARY_GRAD_REF(leaky_relu, y, y > 0 ? dy : d->a * dy)
