/* Sizes of topk. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_TOPK_DIMS_H_
#define THIMBLE_OPS_TOPK_DIMS_H_

#include "ops/families/reduction/axis_dims.h"

typedef struct topk_dims {
  axis_dims along;
  int k;
  int largest;
} topk_dims;

#endif
