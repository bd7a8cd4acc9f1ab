static real swish_gate(real x) { return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)); }
UNARY_REF(swish, x* swish_gate(x))
UNARY_GRAD_REF(swish, x, dy* swish_gate(x) * (1 + x * (1 - swish_gate(x))))
