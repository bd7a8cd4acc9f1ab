#include "ops/families/unary/unary_dims.h"

UNARY_REF(softplus, d->a* x > d->b ? x : SOFTPLUS(d->a * x) / d->a)
UNARY_GRAD_REF(softplus, x, d->a* x > d->b ? dy : dy * SIGMOID(d->a * x))
