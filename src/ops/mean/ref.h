#include "ops/families/binary/broadcast_dims.h"
#include "ops/families/reduction/reduce_dims.h"

SUM_REF(mean)
BROADCAST_REF(mean_grad)
