/* Sizes of normalize. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_NORMALIZE_DIMS_H_
#define THIMBLE_OPS_NORMALIZE_DIMS_H_

#include "ops/families/reduction/axis_dims.h"

typedef struct normalize_dims {
  axis_dims along;
  double p;
  double epsilon;
} normalize_dims;

#endif
