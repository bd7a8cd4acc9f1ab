UNARY_REF(atanh, atanh(x))
UNARY_GRAD_REF(atanh, x, dy / ((1 - x) * (1 + x)))
