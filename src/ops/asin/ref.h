#include "ops/families/unary/unary_dims.h"

UNARY_REF(asin, asin(x))
UNARY_GRAD_REF(asin, x, dy / sqrt((1 - x) * (1 + x)))
