UNARY_REF(trunc, trunc(x))
