#include "ops/families/unary/unary_dims.h"

UNARY_REF(atan, atan(x))
UNARY_GRAD_REF(atan, x, dy / (1 + x * x))
