#include "ops/families/unary/unary_dims.h"

UNARY_REF(hardshrink, x <= d->a && x >= -d->a ? 0 : x)
UNARY_GRAD_REF(hardshrink, x, x <= d->a && x >= -d->a ? 0 : dy)
