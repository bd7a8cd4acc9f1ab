#include "ops/families/unary/unary_dims.h"

UNARY_REF(acos, acos(x))
UNARY_GRAD_REF(acos, x, -dy / sqrt((1 - x) * (1 + x)))
