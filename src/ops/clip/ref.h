#include "ops/families/unary/unary_dims.h"

UNARY_REF(clip, x<d->a ? d->a : x> d->b ? d->b : x)
UNARY_GRAD_REF(clip, x, x<d->a || x> d->b ? 0 : dy)
