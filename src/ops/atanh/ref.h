#include "ops/families/unary/unary_dims.h"

UNARY_REF(atanh, atanh(x))
UNARY_GRAD_REF(atanh, x, dy / ((1 - x) * (1 + x)))
