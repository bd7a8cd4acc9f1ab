#include "ops/families/unary/unary_dims.h"

UNARY_REF(acosh, acosh(x))
UNARY_GRAD_REF(acosh, x, dy / sqrt((x - 1) * (x + 1)))
