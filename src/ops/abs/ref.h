UNARY_REF(abs, fabs(x))
UNARY_GRAD_REF(abs, x, x > 0 ? dy : x < 0 ? -dy : x * dy)
