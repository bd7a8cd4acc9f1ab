#include "ops/families/unary/unary_dims.h"

UNARY_REF(hard_tanh, x<d->a ? d->a : x> d->b ? d->b : x)
UNARY_GRAD_REF(hard_tanh, y, y <= d->a || y >= d->b ? 0 : dy)
