UNARY_REF(ceil, ceil(x))
