#include "ops/families/unary/unary_dims.h"

UNARY_REF(exp2, exp2(x))
UNARY_GRAD_REF(exp2, y, dy*(real)0.6931471805599453 * y)
