#include "ops/families/unary/unary_dims.h"

UNARY_REF(leaky_relu, x > 0 ? x : d->a * x)
/* y is x where the slope is negative. */
UNARY_GRAD_REF(leaky_relu, y, y > 0 ? dy : d->a * dy)
