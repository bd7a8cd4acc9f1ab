UNARY_REF(relu, x > 0 ? x : 0)
UNARY_GRAD_REF(relu, y, y > 0 ? dy : 0)
