/* A tensor seen as [outer, size, inner], for kernels that work along one axis. Plain C99. */
#ifndef THIMBLE_OPS_COMMON_AXIS_DIMS_H
#define THIMBLE_OPS_COMMON_AXIS_DIMS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  int outer;
  int size;  /* of the axis */
  int inner; /* elements from one index of the axis to the next */
} axis_dims;

#endif
