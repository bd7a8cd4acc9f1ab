#include "ops/families/unary/unary_dims.h"

UNARY_REF(asinh, asinh(x))
UNARY_GRAD_REF(asinh, x, dy / sqrt(x * x + 1))
