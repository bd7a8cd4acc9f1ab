/* The exponential is of a negative number, so that it never overflows. */
UNARY_REF(sigmoid, x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)))
UNARY_GRAD_REF(sigmoid, y, dy* y*(1 - y))
