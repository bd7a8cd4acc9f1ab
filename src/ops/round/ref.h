UNARY_REF(round, rint(x))
