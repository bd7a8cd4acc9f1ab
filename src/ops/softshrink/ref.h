#include "ops/families/unary/unary_dims.h"

UNARY_REF(softshrink, x > d->a ? x - d->a : x < -d->a ? x + d->a : x != x ? x : 0)
UNARY_GRAD_REF(softshrink, y, y != 0 ? dy : 0)
