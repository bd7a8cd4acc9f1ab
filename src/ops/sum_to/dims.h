/* Sizes of sum_to. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_SUM_TO_DIMS_H
#define THIMBLE_OPS_SUM_TO_DIMS_H

#include <stddef.h>

/* The axes of x, innermost first; axes of size 1 are left out, neighbours that are both kept or
   both summed are merged. */
typedef struct sum_to_dims {
  int outputs; /* elements of y */
  int n;       /* elements of x */
  int count;   /* axes, at least 1 */
  int size[8];
  int stride[8]; /* of y, elements from one index to the next; 0: summed */
} sum_to_dims;

#endif
