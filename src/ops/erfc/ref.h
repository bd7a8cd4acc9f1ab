#include "ops/families/unary/unary_dims.h"

UNARY_REF(erfc, erfc(x))
UNARY_GRAD_REF(erfc, x, -dy*(real)1.1283791670955126 * exp(-x * x))
