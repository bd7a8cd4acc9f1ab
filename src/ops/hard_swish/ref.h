#include "ops/families/unary/unary_dims.h"

UNARY_REF(hard_swish, x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6)
UNARY_GRAD_REF(hard_swish, x, x <= -3 ? 0 : x >= 3 ? dy : dy * (x / 3 + (real)0.5))
