UNARY_REF(rsqrt, 1 / sqrt(x))
UNARY_GRAD_REF(rsqrt, y, dy* y* y* y / -2)
