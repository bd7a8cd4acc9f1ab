#include "ops/families/unary/unary_dims.h"

UNARY_REF(sin, sin(x))
UNARY_GRAD_REF(sin, x, dy* cos(x))
