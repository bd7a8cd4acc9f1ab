#include "ops/families/unary/unary_dims.h"

UNARY_REF(log_sigmoid, -SOFTPLUS(-x))
UNARY_GRAD_REF(log_sigmoid, y, -dy* expm1(y))
