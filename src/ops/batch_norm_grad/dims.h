#ifndef THIMBLE_OPS_BATCH_NORM_GRAD_DIMS_H_
#define THIMBLE_OPS_BATCH_NORM_GRAD_DIMS_H_

#include "ops/families/norm/batch_norm_dims.h"

#endif
