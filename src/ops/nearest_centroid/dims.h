/* Sizes of nearest_centroid. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_NEAREST_CENTROID_DIMS_H_
#define THIMBLE_OPS_NEAREST_CENTROID_DIMS_H_

#include <stddef.h>
#include <stdint.h>

typedef struct nearest_centroid_dims {
  int rows;
  int size; /* of a row */
  int classes;
} nearest_centroid_dims;

#endif
