#include "ops/families/unary/unary_dims.h"

UNARY_REF(sigmoid, SIGMOID(x))
UNARY_GRAD_REF(sigmoid, y, dy* y*(1 - y))
