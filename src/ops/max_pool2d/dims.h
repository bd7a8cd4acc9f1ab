#ifndef THIMBLE_OPS_MAX_POOL2D_DIMS_H_
#define THIMBLE_OPS_MAX_POOL2D_DIMS_H_

#include "ops/families/pool/pool_dims.h"

#endif
