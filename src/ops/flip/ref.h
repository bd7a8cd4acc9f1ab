#include "ops/families/move/strided_dims.h"

STRIDED_GATHER_REF(flip)
