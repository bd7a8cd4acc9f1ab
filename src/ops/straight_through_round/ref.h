#include "ops/families/unary/unary_dims.h"

UNARY_REF(straight_through_round, (real)rint(x))
