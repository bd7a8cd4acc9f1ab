UNARY_REF(sinh, sinh(x))
UNARY_GRAD_REF(sinh, x, dy* cosh(x))
