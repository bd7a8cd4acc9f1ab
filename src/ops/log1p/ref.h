#include "ops/families/unary/unary_dims.h"

UNARY_REF(log1p, log1p(x))
UNARY_GRAD_REF(log1p, x, dy / (1 + x))
