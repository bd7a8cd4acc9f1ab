UNARY_REF(neg, -x)
