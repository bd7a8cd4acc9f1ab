#include "ops/families/unary/unary_dims.h"

UNARY_REF(square, x* x)
UNARY_GRAD_REF(square, x, 2 * x * dy)
