#include "ops/families/unary/unary_dims.h"

UNARY_REF(relu6, x<0 ? 0 : x> 6 ? 6 : x)
UNARY_GRAD_REF(relu6, y, y <= 0 || y >= 6 ? 0 : dy)
