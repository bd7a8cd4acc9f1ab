#include "ops/families/unary/unary_dims.h"

UNARY_REF(swish, x* SIGMOID(x))
UNARY_GRAD_REF(swish, x, dy* SIGMOID(x) * (1 + x * SIGMOID(-x)))
