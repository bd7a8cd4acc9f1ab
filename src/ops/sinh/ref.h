#include "ops/families/unary/unary_dims.h"

UNARY_REF(sinh, sinh(x))
UNARY_GRAD_REF(sinh, x, dy* cosh(x))
