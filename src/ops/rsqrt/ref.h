#include "ops/families/unary/unary_dims.h"

UNARY_REF(rsqrt, 1 / sqrt(x))
UNARY_GRAD_REF(rsqrt, y, dy / -2 * y * y * y)
