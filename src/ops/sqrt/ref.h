#include "ops/families/unary/unary_dims.h"

UNARY_REF(sqrt, sqrt(x))
UNARY_GRAD_REF(sqrt, y, dy / (2 * y))
