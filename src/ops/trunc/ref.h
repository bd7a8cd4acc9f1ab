#include "ops/families/unary/unary_dims.h"

UNARY_REF(trunc, trunc(x))
