UNARY_REF(sign, x > 0 ? 1 : x < 0 ? -1 : x)
