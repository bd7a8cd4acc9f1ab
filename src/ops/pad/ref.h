#include "ops/families/move/strided_dims.h"

STRIDED_SCATTER_REF(pad)
