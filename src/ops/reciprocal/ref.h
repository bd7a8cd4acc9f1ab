#include "ops/families/unary/unary_dims.h"

UNARY_REF(reciprocal, 1 / x)
UNARY_GRAD_REF(reciprocal, y, -dy* y* y)
