UNARY_REF(sin, sin(x))
UNARY_GRAD_REF(sin, x, dy* cos(x))
