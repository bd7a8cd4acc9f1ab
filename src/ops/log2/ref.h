#include "ops/families/unary/unary_dims.h"

UNARY_REF(log2, log2(x))
UNARY_GRAD_REF(log2, x, dy / (x * (real)0.6931471805599453))
