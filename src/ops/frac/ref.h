#include "ops/families/unary/unary_dims.h"

UNARY_REF(frac, x - trunc(x))
