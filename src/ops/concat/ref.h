#include "ops/families/move/parts_dims.h"

JOIN_REF(concat)
