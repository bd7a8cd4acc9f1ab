#include "ops/families/unary/unary_dims.h"

UNARY_REF(floor, floor(x))
