/* Sizes and constants of kernels that draw random numbers. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_RANDOM_DIMS_H
#define THIMBLE_OPS_COMMON_RANDOM_DIMS_H

#include "simd/philox.h"

/* Element i of the whole batch (philox_first) belongs to word i % 4 of block i / 4 of the stream.
 */
typedef struct {
  int n;           /* elements */
  uint32_t stream; /* number of this draw within a step */
  double a, b;     /* constants of the formula, named by the op */
  double limit;
} random_dims;

#endif
