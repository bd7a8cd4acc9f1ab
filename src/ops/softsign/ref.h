#include "ops/families/unary/unary_dims.h"

UNARY_REF(softsign, x / (1 + fabs(x)))
UNARY_GRAD_REF(softsign, y, dy*(1 - fabs(y)) * (1 - fabs(y)))
