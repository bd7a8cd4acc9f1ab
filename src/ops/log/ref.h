UNARY_REF(log, log(x))
UNARY_GRAD_REF(log, x, dy / x)
