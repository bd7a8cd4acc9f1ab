UNARY_REF(floor, floor(x))
