#include "ops/families/unary/unary_dims.h"

UNARY_REF(expm1, expm1(x))
UNARY_GRAD_REF(expm1, y, dy*(y + 1))
