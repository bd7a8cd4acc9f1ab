#include "ops/families/unary/unary_dims.h"

UNARY_REF(log, log(x))
UNARY_GRAD_REF(log, x, dy / x)
