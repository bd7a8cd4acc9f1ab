#include "ops/families/unary/unary_dims.h"

UNARY_REF(log10, log10(x))
UNARY_GRAD_REF(log10, x, dy / (x * (real)2.302585092994046))
