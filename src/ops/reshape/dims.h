/* Sizes of reshape. Plain C99. */
#ifndef THIMBLE_OPS_RESHAPE_DIMS_H
#define THIMBLE_OPS_RESHAPE_DIMS_H

#include "ops/common/copy_dims.h"

typedef struct {
  int n; /* elements; bytes of packed bits */
  copy_element element;
} reshape_dims;

#endif
