UNARY_REF(straight_through_round, (real)rint(x))
