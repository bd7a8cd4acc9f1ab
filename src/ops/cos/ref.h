#include "ops/families/unary/unary_dims.h"

UNARY_REF(cos, cos(x))
UNARY_GRAD_REF(cos, x, -dy* sin(x))
