/* Sizes of index_select. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_INDEX_SELECT_DIMS_H_
#define THIMBLE_OPS_INDEX_SELECT_DIMS_H_

#include "ops/families/move/copy_dims.h"
#include "ops/families/reduction/axis_dims.h"

typedef struct index_select_dims {
  axis_dims along; /* of x */
  int count;       /* indices */
  copy_element element;
  int missing; /* the bytes of elements that there are none of, where these are not `real` */
} index_select_dims;

#endif
