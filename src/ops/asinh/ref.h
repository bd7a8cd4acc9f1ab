UNARY_REF(asinh, asinh(x))
UNARY_GRAD_REF(asinh, x, dy / sqrt(x * x + 1))
