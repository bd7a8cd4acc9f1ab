#include "ops/families/unary/unary_dims.h"

UNARY_REF(cosh, cosh(x))
UNARY_GRAD_REF(cosh, x, dy* sinh(x))
