#include "ops/families/unary/unary_dims.h"

UNARY_REF(relu, x < 0 ? 0 : x)
UNARY_GRAD_REF(relu, y, y <= 0 ? 0 : dy)
