#include "ops/families/unary/unary_dims.h"

UNARY_REF(celu, x > 0 ? x : d->a * expm1(x / d->a))
UNARY_GRAD_REF(celu, y, y > 0 ? dy : dy * (y / d->a + 1))
