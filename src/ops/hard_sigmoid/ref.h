#include "ops/families/unary/unary_dims.h"

UNARY_REF(hard_sigmoid, x <= -3 ? 0 : x >= 3 ? 1 : (x + 3) / 6)
UNARY_GRAD_REF(hard_sigmoid, y, y > 0 && y < 1 ? dy / 6 : 0)
