UNARY_REF(asin, asin(x))
UNARY_GRAD_REF(asin, x, dy / sqrt((1 - x) * (1 + x)))
