/* Sizes of ops that find elements along an axis by indices. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_INDEXED_DIMS_H
#define THIMBLE_OPS_COMMON_INDEXED_DIMS_H

#include <stdint.h>

#include "ops/families/move/strided_dims.h"

/* The indices are the dense tensor of `walk`, which goes over the other tensor with the axis at 0;
   an index moves by `step` elements along the axis. */
typedef struct {
  strided_dims walk;
  int size; /* of the axis in the other tensor */
  int step;
  int missing; /* the bytes of an element that there is none of, where these are not `real` */
} indexed_dims;

#endif
