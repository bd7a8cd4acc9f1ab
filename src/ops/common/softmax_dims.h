/* Sizes of softmax and log_softmax: x is [outer, classes, inner]. Plain C99: also emitted. */
#ifndef THIMBLE_OPS_COMMON_SOFTMAX_DIMS_H
#define THIMBLE_OPS_COMMON_SOFTMAX_DIMS_H

#include <stddef.h>

typedef struct {
  int outer;
  int classes; /* over which the sums run */
  int inner;   /* elements from one class to the next */
} softmax_dims;

#endif
