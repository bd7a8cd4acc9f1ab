/* Sizes of cumsum. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_CUMSUM_DIMS_H_
#define THIMBLE_OPS_CUMSUM_DIMS_H_

#include "ops/families/reduction/axis_dims.h"

typedef struct cumsum_dims {
  axis_dims along;
  int reverse;
} cumsum_dims;

#endif
