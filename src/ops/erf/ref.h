#include "ops/families/unary/unary_dims.h"

UNARY_REF(erf, erf(x))
UNARY_GRAD_REF(erf, x, dy*(real)1.1283791670955126 * exp(-x * x))
