#include "ops/families/unary/unary_dims.h"

UNARY_REF(round, rint(x))
