#include "ops/families/unary/unary_dims.h"

UNARY_REF(elu, x > 0 ? x : d->a * expm1(x))
/* y is x where alpha is negative. */
UNARY_GRAD_REF(elu, y, y > 0 ? dy : d->a < 0 ? dy * d->a * exp(y) : dy * (y + d->a))
