#include "ops/families/unary/unary_dims.h"

UNARY_REF(affine, d->a* x + d->b)
