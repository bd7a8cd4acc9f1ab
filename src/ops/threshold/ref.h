#include "ops/families/unary/unary_dims.h"

UNARY_REF(threshold, x <= d->a ? d->b : x)
UNARY_GRAD_REF(threshold, x, x <= d->a ? 0 : dy)
