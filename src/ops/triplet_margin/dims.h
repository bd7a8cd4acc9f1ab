/* Sizes and constants of triplet_margin. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_TRIPLET_MARGIN_DIMS_H_
#define THIMBLE_OPS_TRIPLET_MARGIN_DIMS_H_

#include <stddef.h>

#include "ops/families/loss/loss_dims.h"

typedef struct triplet_margin_dims {
  int rows;
  int size;    /* of a row */
  int divisor; /* what the sum over rows is divided by, or LOSS_TERMS */
  int swap;
  double margin;
  double p;
  double epsilon;
} triplet_margin_dims;

#endif
