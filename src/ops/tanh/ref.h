#include "ops/families/unary/unary_dims.h"

UNARY_REF(tanh, tanh(x))
UNARY_GRAD_REF(tanh, y, dy*(1 - y * y))
