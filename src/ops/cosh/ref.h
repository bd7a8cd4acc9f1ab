UNARY_REF(cosh, cosh(x))
UNARY_GRAD_REF(cosh, x, dy* sinh(x))
