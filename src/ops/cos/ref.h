UNARY_REF(cos, cos(x))
UNARY_GRAD_REF(cos, x, -dy* sin(x))
