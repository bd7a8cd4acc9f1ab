#include "ops/families/unary/unary_dims.h"

UNARY_REF(exp, exp(x))
UNARY_GRAD_REF(exp, y, dy* y)
