#include "ops/families/reduction/reduce_dims.h"

SUM_REF(sum)
