#include "ops/families/move/parts_dims.h"

SEPARATE_REF(split)
JOIN_REF(split_grad)
