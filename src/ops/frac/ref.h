UNARY_REF(frac, x - trunc(x))
