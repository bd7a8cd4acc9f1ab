#include "ops/families/unary/unary_dims.h"

UNARY_REF(tan, tan(x))
UNARY_GRAD_REF(tan, y, dy*(1 + y * y))
