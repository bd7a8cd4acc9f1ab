#include "ops/families/move/strided_dims.h"

STRIDED_GATHER_REF(slice)
STRIDED_SCATTER_REF(slice_grad)
